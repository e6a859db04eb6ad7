/* Digits and numbers in a text; each function gives the place after what it read. */

#ifndef KLINIC_NUMBER_H
#define KLINIC_NUMBER_H

#include "stable.h"

#include <stdint.h>

static inline int is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* The digits that stand here are added to `digits`, which wraps where there are more than 19 of them. */
const char *digits_from(const char *at, const char *end, uint64_t *digits);

/* Whether a number's digits stand as JSON has them: no zero before others, and no whole -0, which is 0 in Python. */
static inline int is_json(const char *at, const char *end) {
    int negative = at < end && *at == '-';
    at += negative;
    if (at == end || *at != '0') return 1;
    return end - at == 1 ? !negative : !is_digit(at[1]);
}

/* A number as JSON has it, zeros before it allowed, read as Python's float() does; `places`: digits after the point, -1
   where it has an exponent or no point. NULL where it is none, or none that a double holds. For some spellings the
   interpreter's lock, released by the caller, is taken a while: `released` is then another one. */
const char *number_from(const char *at, const char *end, PyThreadState **released, double *value, int *places);

#endif
