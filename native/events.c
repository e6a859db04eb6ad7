#include "events.h"
#include "crc.h"

#include <math.h>
#include <string.h>

/* Of a record as TensorBoard's add_scalar writes it: length, its checksum, then the payload, which is a key, the time,
   a key, the step, then what names the tag, at its end a float; after it the checksum of the payload. */
#define PAYLOAD 12
#define TIME 13
#define STEP_KEY 21
#define STEP 22
#define CHECKSUM 4
#define MAX_WIDTH 9 /* bytes of a step below 2^63 */

typedef struct {
    int32_t start, payload; /* where in the step's bytes, and how long its payload is */
} Record;

const char *unfit(const Events *events) {
    const Record *records = events->records.buf;
    Py_ssize_t tags = events->records.len / (Py_ssize_t)sizeof *records, at = 0;
    if (events->step.len > INT32_MAX / 2) return "events: the step is too long";
    if (!tags || events->width < 1 || events->width > MAX_WIDTH) return "events: no records, or no such step";
    for (Py_ssize_t tag = 0; tag < tags; tag++) {
        if (records[tag].start != at || records[tag].payload < STEP - PAYLOAD + events->width + 4)
            return "events: a record is too short or does not follow the one before";
        at += (Py_ssize_t)records[tag].payload + PAYLOAD + CHECKSUM;
        if (at > events->step.len) return "events: a record outside of the step";
    }
    if (at != events->step.len) return "events: the records are not the whole step";
    Py_ssize_t rows = events->steps.len / 8;
    if (events->times.len / 8 < rows || events->values.len / 8 / tags < rows) return "events: no room for the rows";
    return NULL;
}

/* The number whose 7 bits a byte stand there, the lowest first; -1 where it has another width. */
static int64_t step_at(const unsigned char *at, int width) {
    uint64_t step = 0;
    for (int place = 0; place < width; place++) {
        if ((at[place] >= 128) != (place < width - 1)) return -1;
        step |= (uint64_t)(at[place] & 127) << 7 * place;
    }
    return (int64_t)step;
}

/* Whether all bytes are those of the template but the time, the step, the value and the payload's checksum. */
static int is_alike(const unsigned char *at, const unsigned char *model, int32_t payload, int width) {
    int32_t name = STEP + width, value = PAYLOAD + payload - 4;
    return !memcmp(at, model, TIME) && at[STEP_KEY] == model[STEP_KEY] &&
           !memcmp(at + name, model + name, (size_t)(value - name));
}

static uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xA282EAD8u; }

static void take_value(Events *events, const unsigned char *at, int32_t payload, double *value) {
    uint32_t written;
    float number;
    memcpy(&number, at + PAYLOAD + payload - 4, sizeof number);
    memcpy(&written, at + PAYLOAD + payload, sizeof written);
    *value = number;
    events->odd |= !isfinite(number);
    events->wrong += written != masked(crc32c(at + PAYLOAD, (size_t)payload));
}

/* The step that all records of a template have here; -1 where one differs from it. */
static int64_t step_of(const Events *events, const unsigned char *at) {
    const Record *records = events->records.buf;
    Py_ssize_t tags = events->records.len / (Py_ssize_t)sizeof *records;
    const unsigned char *model = events->step.buf;
    for (Py_ssize_t tag = 0; tag < tags; tag++) {
        const unsigned char *record = at + records[tag].start;
        if (!is_alike(record, model + records[tag].start, records[tag].payload, events->width)) return -1;
        if (memcmp(record + STEP, at + STEP, (size_t)events->width)) return -1;
    }
    return step_at(at + STEP, events->width);
}

Py_ssize_t take_events(Events *events) {
    const Record *records = events->records.buf;
    Py_ssize_t tags = events->records.len / (Py_ssize_t)sizeof *records, row = 0;
    Py_ssize_t most = events->data.len / events->step.len, room = events->steps.len / 8;
    for (; row < most && row < room; row++) {
        const unsigned char *at = (const unsigned char *)events->data.buf + row * events->step.len;
        double *values = (double *)events->values.buf + row * tags;
        int64_t step = step_of(events, at);
        if (step < 0) break;
        ((int64_t *)events->steps.buf)[row] = step;
        memcpy((double *)events->times.buf + row, at + TIME, sizeof(double));
        for (Py_ssize_t tag = 0; tag < tags; tag++)
            take_value(events, at + records[tag].start, records[tag].payload, values + tag);
    }
    return row;
}
