/* Many metric lines whose keys, and what stands before them, are known. */

#ifndef KLINIC_ROWS_H
#define KLINIC_ROWS_H

#include "row.h"

/* A call of `rows` of the module: its arguments, and what is made of them. */
typedef struct {
    Py_buffer text, lines, names, patterns, befores, steps, values, marks;
    Py_ssize_t first, last;
    Shape shape;
    Table known_befores;
} Job;

/* Makes shape and known_befores, zero until then, of the arguments. 0 where memory ends. */
int prepare(Job *job);

/* What is wrong with the sizes of a prepared call, or NULL. */
const char *misfit(const Job *job);

/* How many lines from the first on are as expected; these are written. Works without the interpreter's lock, which it
   takes a while for some numbers. odd: whether any value of theirs is not finite. */
Py_ssize_t take_rows(Job *job, PyThreadState **released, int *odd);

/* Gives back all that the call holds. */
void release(Job *job);

#endif
