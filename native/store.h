/* The records of a W&B store: LevelDB's log framing. */

#ifndef KLINIC_STORE_H
#define KLINIC_STORE_H

#include "history.h"

/* A call of `history` of the module: its arguments, and what is found. */
typedef struct {
    Py_buffer data, names, values, marks, ends, counts;
    Py_ssize_t at;     /* where in the data a record begins */
    Py_ssize_t offset; /* of the data in the file */
    Items items;
    char *joined; /* a record of several chunks */
    size_t room;
    Py_ssize_t rows;
    int odd, no_memory;
} Store;

/* Makes `items` of the arguments. 0 where memory ends. */
int prepare_store(Store *store);

/* What is wrong with the sizes of a call, or NULL. */
const char *unsuited(const Store *store);

/* Reads records until one is cut, damaged, or not as expected. Works without the interpreter's lock, which it takes a
   while for some numbers. */
void take_history_rows(Store *store, PyThreadState **released);

/* Gives back all that the call holds. */
void release_store(Store *store);

#endif
