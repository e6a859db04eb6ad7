/* A record of a W&B store turned into a row. */

#ifndef KLINIC_HISTORY_H
#define KLINIC_HISTORY_H

#include "row.h"

enum { STRANGE, NO_ROW, ONE_ROW }; /* what a record is: to be read by the caller, without history, a row */

/* What the items are known to be. */
typedef struct {
    Table names;       /* keys; the place of one is its column */
    int32_t step_name; /* the column that holds the step of a record without such an item, -1 where there is none */
} Items;

/* One whole record; `row->values` and `row->marks` are written where it holds history. `cursor`: for its lock only. */
int take_record(Cursor *cursor, const char *at, const char *end, const Items *items, Row *row);

#endif
