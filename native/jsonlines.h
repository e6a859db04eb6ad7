/* Many JSON lines with metrics whose keys are known. */

#ifndef KLINIC_JSONLINES_H
#define KLINIC_JSONLINES_H

#include "jsonrow.h"

/* A call of `json` of the module: its arguments, and what is found. */
typedef struct {
    Py_buffer text, names, steps, times, values, marks;
    Py_ssize_t at; /* where in the text a line begins; then the first one that was not read */
    Layout layout;
    Py_ssize_t rows;
    int odd;
} Lines;

/* Makes `layout`, zero until then, of the arguments. 0 where memory ends. */
int prepare_lines(Lines *lines);

/* What is wrong with the sizes of a prepared call, or NULL. */
const char *misplaced(const Lines *lines);

/* Reads lines until one is not as expected or has no end, or there is no more room. Works without the interpreter's
   lock, which it takes a while for some numbers. */
void take_lines(Lines *lines, PyThreadState **released);

/* Gives back all that the call holds. */
void release_lines(Lines *lines);

#endif
