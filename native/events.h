/* Steps of an event file, each of whose records are those of a template. */

#ifndef KLINIC_EVENTS_H
#define KLINIC_EVENTS_H

#include "stable.h"

#include <stdint.h>

/* A call of `events` of the module: its arguments, and what is found. */
typedef struct {
    Py_buffer data, step, records, steps, times, values;
    int width;        /* bytes of the step's number in each record */
    Py_ssize_t wrong; /* payloads whose checksum is not the one written */
    int odd;          /* whether any value is not finite */
} Events;

/* What is wrong with the sizes of a call, or NULL. */
const char *unfit(const Events *events);

/* How many steps at the start of the data are those of the template; needs no interpreter. */
Py_ssize_t take_events(Events *events);

#endif
