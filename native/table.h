/* Tables of byte strings: which place a string has, if it is one of them. */

#ifndef KLINIC_TABLE_H
#define KLINIC_TABLE_H

#include "stable.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether the bytes are the same; without a call where there are eight or more, for keys are short and many. */
static inline int is_same(const char *one, const char *other, Py_ssize_t size) {
    uint64_t a, b;
    if (size < 8) return !memcmp(one, other, (size_t)size);
    for (Py_ssize_t at = 0; at < size; at += 8) {
        Py_ssize_t place = at + 8 <= size ? at : size - 8; /* the last eight overlap with those before */
        memcpy(&a, one + place, 8);
        memcpy(&b, other + place, 8);
        if (a != b) return 0;
    }
    return 1;
}

typedef struct {
    const char *at;
    Py_ssize_t size;
} Span;

/* All zero is a table that may be freed. */
typedef struct {
    Span *items;    /* they point into the text that the table was filled from */
    int32_t *slots; /* hash -> place of an item, -1 where free */
    size_t mask;
    int32_t count;
} Table;

/* The strings of `text`, each of them ended by a line feed. 0 where memory ends. */
int fill_table(Table *table, const char *text, Py_ssize_t size);

void free_table(Table *table);

/* The place of a string, -1 where the table does not hold it. */
int32_t find(const Table *table, const char *at, Py_ssize_t size);

#endif
