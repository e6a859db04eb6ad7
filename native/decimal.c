/* The way of D. Lemire, "Number parsing at a gigabyte per second" (2021): 10^n is 5^n * 2^n; the digits are multiplied
   by the first 128 bits of 5^n, which are enough to round by for n from -27 on. */

#include "decimal.h"

#include <string.h>

#ifdef __SIZEOF_INT128__

#define MOST 27 /* 5^27 fits into 63 bits */
typedef unsigned __int128 Wide;

static uint64_t powers[2 * MOST + 1][2]; /* of 5, the highest bit set: high and low half */

static void keep(int exponent, Wide power) {
    powers[exponent + MOST][0] = (uint64_t)(power >> 64);
    powers[exponent + MOST][1] = (uint64_t)power;
}

/* 2^(127 + the bits of five) / five, one added: what is cut off must not make a tie of what is none. */
static Wide inverse(uint64_t five) {
    Wide top = (Wide)1 << (127 - __builtin_clzll(five - 1));
    Wide high = top / five, rest = top % five;
    return (high << 64) + (rest << 64) / five + 1;
}

void prepare_powers(void) {
    uint64_t five = 1;
    for (int exponent = 0; exponent <= MOST; exponent++, five *= 5) {
        keep(exponent, (Wide)five << 64 << __builtin_clzll(five));
        if (exponent) keep(-exponent, inverse(five));
    }
}

/* `digits`, its highest bit set, times the power of five: the upper 128 bits. */
static Wide product(uint64_t digits, int exponent) {
    const uint64_t *power = powers[exponent + MOST];
    Wide found = (Wide)digits * power[0];
    if ((uint64_t)(found >> 64 & 0x1FF) == 0x1FF) found += (uint64_t)((Wide)digits * power[1] >> 64);
    return found;
}

int scaled(uint64_t digits, int exponent, double *value) {
    if (exponent > MOST || exponent < -MOST) return 0;
    if (!digits) return *value = 0.0, 1;
    int zeros = __builtin_clzll(digits);
    Wide found = product(digits << zeros, exponent);
    uint64_t high = (uint64_t)(found >> 64), low = (uint64_t)found;
    int top = (int)(high >> 63), away = top + 9; /* 54 bits are kept: 53, and one to round by */
    uint64_t kept = high >> away;
    /* Exactly between two doubles, as far as whole powers of five reach: to the even one. */
    if (low <= 1 && exponent >= -4 && exponent <= 23 && (kept & 3) == 1 && kept << away == high) kept--;
    kept = (kept + (kept & 1)) >> 1;
    int64_t power = ((217706 * (int64_t)exponent) >> 16) + 63 + top - zeros + 1023; /* 217706 / 2^16: log2(10) */
    uint64_t bits = ((uint64_t)power << 52) + kept - (1ull << 52); /* 2^53, rounded up to, carries into the exponent */
    memcpy(value, &bits, sizeof bits);
    return 1;
}

#else

void prepare_powers(void) {}

int scaled(uint64_t digits, int exponent, double *value) {
    (void)digits, (void)exponent, (void)value;
    return 0;
}

#endif
