#include "number.h"
#include "decimal.h"

#include <math.h>
#include <string.h>

#define MAX_NUMBER 63 /* characters of a number that is read here */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Eight digits at once: in one word, all bytes are tested, then neighbours joined three times. 0 where they are none. */
static inline int eight_digits(const char *at, uint64_t *digits) {
    uint64_t word;
    memcpy(&word, at, 8);
    if ((word & 0xF0F0F0F0F0F0F0F0ull) != 0x3030303030303030ull ||
        ((word + 0x0606060606060606ull) & 0xF0F0F0F0F0F0F0F0ull) != 0x3030303030303030ull)
        return 0;
    word = (word & 0x0F0F0F0F0F0F0F0Full) * 2561 >> 8;
    word = (word & 0x00FF00FF00FF00FFull) * 6553601 >> 16;
    word = (word & 0x0000FFFF0000FFFFull) * 42949672960001ull >> 32;
    *digits = *digits * 100000000 + word;
    return 1;
}
#else
static int eight_digits(const char *at, uint64_t *digits) { return (void)at, (void)digits, 0; }
#endif

static inline const char *many_digits(const char *at, const char *end, uint64_t *digits) {
    while (end - at >= 8 && eight_digits(at, digits)) at += 8;
    for (; at < end && is_digit(*at); at++) *digits = *digits * 10 + (uint64_t)(*at - '0');
    return at;
}

/* The same where few are likely, as before a point. */
static inline const char *few_digits(const char *at, const char *end, uint64_t *digits) {
    for (const char *stop = end - at > 4 ? at + 4 : end; at < stop; at++) {
        if (!is_digit(*at)) return at;
        *digits = *digits * 10 + (uint64_t)(*at - '0');
    }
    return many_digits(at, end, digits);
}

const char *digits_from(const char *at, const char *end, uint64_t *digits) { return few_digits(at, end, digits); }

/* Whether the digits between two places, a point among them, are too many for 64 bits. */
static int too_many(const char *at, const char *end) {
    if (end - at <= 19) return 0;
    while (at < end && (*at == '0' || *at == '.')) at++;
    return end - at - (memchr(at, '.', (size_t)(end - at)) != NULL) > 19;
}

/* The digits after a point and how many they are; NULL where there are none, or more than a number may have. */
static inline const char *fraction_from(const char *point, const char *end, uint64_t *digits, int *places) {
    const char *at = many_digits(point, end, digits);
    if (at == point || at - point > MAX_NUMBER) return NULL;
    *places = (int)(at - point);
    return at;
}

/* An exponent after `e`, up to 4 digits; NULL where there is none. */
static const char *exponent_from(const char *at, const char *end, int *exponent) {
    int down = at < end && *at == '-';
    at += down || (at < end && *at == '+');
    const char *start = at;
    for (; at < end && is_digit(*at) && at - start < 4; at++) *exponent = *exponent * 10 + (*at - '0');
    *exponent = down ? -*exponent : *exponent;
    return at == start || (at < end && is_digit(*at)) ? NULL : at;
}

/* Python's own reading of a number; the interpreter's lock is taken for it. 0 where it is none, or no finite one. */
static int as_python(const char *at, Py_ssize_t size, PyThreadState **released, double *value) {
    char text[MAX_NUMBER + 1];
    if (size > MAX_NUMBER) return 0;
    memcpy(text, at, (size_t)size);
    text[size] = 0;
    PyEval_RestoreThread(*released);
    *value = PyOS_string_to_double(text, NULL, NULL);
    int good = !PyErr_Occurred();
    PyErr_Clear();
    *released = PyEval_SaveThread();
    return good && isfinite(*value);
}

const char *number_from(const char *start, const char *end, PyThreadState **released, double *value, int *places) {
    int negative = start < end && *start == '-', exponent = 0, fraction = 0;
    uint64_t digits = 0;
    const char *first = start + negative, *at = few_digits(first, end, &digits);
    if (at == first) return NULL;
    if (at < end && *at == '.' && !(at = fraction_from(at + 1, end, &digits, &fraction))) return NULL;
    const char *stop = at;
    if (at < end && (*at == 'e' || *at == 'E') && !(at = exponent_from(at + 1, end, &exponent))) return NULL;
    *places = fraction && at == stop ? fraction : -1;
    if (too_many(first, stop) || !scaled(digits, exponent - fraction, value))
        return as_python(start, at - start, released, value) ? at : NULL;
    if (negative) *value = -*value;
    return at;
}
