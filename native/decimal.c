/* All in whole numbers: 10^n is 5^n * 2^n, and 5^27 fits into 63 bits. */

#include "decimal.h"

#include <string.h>

#ifdef __SIZEOF_INT128__

static const uint64_t FIVES[] = {
    1ull, 5ull, 25ull, 125ull, 625ull, 3125ull, 15625ull, 78125ull, 390625ull, 1953125ull, 9765625ull, 48828125ull,
    244140625ull, 1220703125ull, 6103515625ull, 30517578125ull, 152587890625ull, 762939453125ull, 3814697265625ull,
    19073486328125ull, 95367431640625ull, 476837158203125ull, 2384185791015625ull, 11920928955078125ull,
    59604644775390625ull, 298023223876953125ull, 1490116119384765625ull, 7450580596923828125ull};

/* whole * 2^power to the nearest double, ties to even; `more`: something below one is to be added to `whole`.
   The caller sees to it that `whole` has more than 53 bits where `more` is set, and that the result is normal. */
static double rounded(unsigned __int128 whole, int more, int power) {
    uint64_t high = (uint64_t)(whole >> 64), bits;
    int away = (high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)whole)) - 53;
    double scale;
    if (away > 0) {
        unsigned __int128 kept = whole >> away, rest = whole - (kept << away), half = (unsigned __int128)1 << (away - 1);
        whole = kept + (rest > half || (rest == half && (more || (kept & 1))));
        power += away;
    }
    bits = (uint64_t)(power + 1023) << 52; /* 2^power as a double's bits: the product below is exact */
    memcpy(&scale, &bits, sizeof scale);
    return (double)(uint64_t)whole * scale;
}

/* digits / 10^places, digits not 0: shifted so far that the quotient by 5^places has 63 or 64 bits. */
static double divided(uint64_t digits, int places) {
    uint64_t five = FIVES[places];
    int shift = __builtin_clzll(digits) + 63 - __builtin_clzll(five);
    unsigned __int128 whole = (unsigned __int128)digits << shift, quotient = whole / five;
    return rounded(quotient, quotient * five != whole, -places - shift);
}

int scaled(uint64_t digits, int exponent, double *value) {
    if (exponent > 27 || exponent < -27) return 0;
    if (!digits) *value = 0.0;
    else if (exponent < 0) *value = divided(digits, -exponent);
    else *value = rounded((unsigned __int128)digits * FIVES[exponent], 0, exponent);
    return 1;
}

#else

int scaled(uint64_t digits, int exponent, double *value) {
    (void)digits, (void)exponent, (void)value;
    return 0;
}

#endif
