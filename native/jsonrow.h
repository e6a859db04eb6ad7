/* One line of verl's file logger, `{"step": 1, "data": {"a": 0.5}}`, turned into numbers. */

#ifndef KLINIC_JSONROW_H
#define KLINIC_JSONROW_H

#include "row.h"

enum { IS_NULL = MINUS_INF + 1 }; /* one more mark of a value */

/* A key as it is written with what stands around it up to its value, and its column; no text: none yet. */
typedef struct {
    Span text;
    int32_t column;
} Key;

/* What the lines are known to look like. */
typedef struct {
    Table names; /* keys; the place of one is its column */
    Key *usual;  /* column -> the key that came after it in a line before; the last element is for the start */
} Layout;

/* One whole line, which begins at the cursor and ends at its end; 0 where it is not as expected: an object with a step
   of up to 18 digits, data that are numbers or nulls of known keys, one at least a number, and maybe a time. `time` is
   written where there is one. */
int take_json(Cursor *cursor, Layout *layout, Row *row, double *time);

#endif
