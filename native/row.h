/* One metric line turned into numbers. */

#ifndef KLINIC_ROW_H
#define KLINIC_ROW_H

#include "table.h"

enum { ABSENT, FINITE, IS_NAN, PLUS_INF, MINUS_INF }; /* marks of a value; from 2 on one more than klinic's codes */

typedef struct {
    const char *at, *end;
    PyThreadState *released; /* the interpreter's lock, given back */
    /* How the finite values of a line before the one at hand were printed: -2 none yet, -1 not plainly or in several
       ways, else digits after the point; and whether one of them ends with a 0. */
    int decimals, padded;
} Cursor;

/* What the lines are known to look like. */
typedef struct {
    Table names;          /* keys; the place of one is its column */
    int32_t *follows;     /* column -> the one that came after it; the last element is for the start of a line */
    unsigned char *held;  /* of the line at hand */
    const char *patterns; /* sets of columns, a row of 0 and 1 each */
    Py_ssize_t pattern_count;
    const char *pattern; /* of the line before */
} Shape;

/* Where a line's numbers go, values and marks by column. odd: whether any value is not finite. */
typedef struct {
    int64_t *step;
    double *values;
    unsigned char *marks;
    int odd;
} Row;

/* One line, from the digits of its step on; 0 where it is not as expected. */
int take_row(Cursor *cursor, Shape *shape, Row *row);

#endif
