/* Decimal digits and an exponent to the nearest double. */

#ifndef KLINIC_DECIMAL_H
#define KLINIC_DECIMAL_H

#include <stdint.h>

/* Makes the table of powers; to be called before the other function. */
void prepare_powers(void);

/* digits * 10^exponent to the nearest double, ties to even. 0 where the exponent is beyond 27 either way, or the
   compiler has no whole numbers of 128 bits. */
int scaled(uint64_t digits, int exponent, double *value);

#endif
