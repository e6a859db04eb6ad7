/* Lines sorted into metric lines, lines of a known kind, and others. */

#ifndef KLINIC_LINES_H
#define KLINIC_LINES_H

#include "table.h"

/* All zero is an empty list. */
typedef struct {
    int32_t *items;
    size_t count, room;
} Numbers;

typedef struct {
    Table kinds, words; /* lines without their digits and the drawing of a bar; what a line of the kind must hold */
    Numbers starts, sorts, metrics; /* as `lines` of the module gives them */
} Sorting;

/* Sorts whole lines, below 2 GiB; needs no interpreter. 0 where memory ends. */
int sort_lines(const char *text, const char *end, Sorting *sorting);

void free_sorting(Sorting *sorting);

#endif
