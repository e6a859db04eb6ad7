#include "store.h"
#include "crc.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 32768
#define HEADER 7
#define STEP_NAME "_step"
enum { FULL = 1, FIRST, MIDDLE, LAST };

typedef struct {
    int kind;
    const char *at, *end;
} Chunk;

int prepare_store(Store *store) {
    if (!fill_table(&store->items.names, store->names.buf, store->names.len)) return 0;
    store->items.step_name = find(&store->items.names, STEP_NAME, sizeof STEP_NAME - 1);
    return 1;
}

const char *unsuited(const Store *store) {
    Py_ssize_t rows = store->ends.len / 8, width = store->items.names.count;
    if (store->at < 0 || store->at > store->data.len || store->offset < 0) return "history: no such place";
    if (!width) return "history: no names";
    if (store->counts.len / 8 < rows || store->values.len / 8 / width < rows || store->marks.len / width < rows)
        return "history: no room for the rows";
    return NULL;
}

static int is_sound(const char *header, const Chunk *chunk) {
    uint32_t written, crc = crc32_after(0, (const unsigned char *)header + HEADER - 1, 1);
    memcpy(&written, header, sizeof written);
    return written == crc32_after(crc, (const unsigned char *)chunk->at, (size_t)(chunk->end - chunk->at));
}

/* Whether only zeros stand there: the end of a block that has no room for a header. */
static int is_padding(const char *at, Py_ssize_t size) {
    while (size && !*at) at++, size--;
    return !size;
}

/* Reads the chunk at a place, padding before it stepped over; the place after it, -1 where it is cut or damaged. */
static Py_ssize_t chunk_at(const Store *store, Py_ssize_t at, Chunk *chunk) {
    const char *data = store->data.buf;
    Py_ssize_t left = BLOCK - (store->offset + at) % BLOCK;
    if (left < HEADER) {
        if (left > store->data.len - at || !is_padding(data + at, left)) return -1;
        at += left;
        left = BLOCK;
    }
    if (store->data.len - at < HEADER) return -1;
    Py_ssize_t size = (unsigned char)data[at + 4] | (unsigned char)data[at + 5] << 8;
    chunk->kind = (unsigned char)data[at + 6];
    chunk->at = data + at + HEADER;
    chunk->end = chunk->at + size;
    if (chunk->kind < FULL || chunk->kind > LAST) return -1;
    if (size > left - HEADER || size > store->data.len - at - HEADER) return -1;
    return is_sound(data + at, chunk) ? at + HEADER + size : -1;
}

static int join(Store *store, size_t *size, const Chunk *chunk) {
    size_t more = (size_t)(chunk->end - chunk->at);
    if (!more) return 1; /* there may be no room at all */
    if (store->room - *size < more) {
        size_t room = 2 * (*size + more);
        char *joined = realloc(store->joined, room);
        if (!joined) return !(store->no_memory = 1);
        store->joined = joined;
        store->room = room;
    }
    memcpy(store->joined + *size, chunk->at, more);
    *size += more;
    return 1;
}

/* The record that begins at a place, whole; the place after it, -1 where it is cut or damaged. */
static Py_ssize_t record_at(Store *store, Py_ssize_t at, Chunk *record) {
    Chunk chunk;
    size_t size = 0;
    at = chunk_at(store, at, record);
    if (at < 0 || record->kind == FULL) return at;
    if (record->kind != FIRST || !join(store, &size, record)) return -1;
    do {
        at = chunk_at(store, at, &chunk);
        if (at < 0 || (chunk.kind != MIDDLE && chunk.kind != LAST) || !join(store, &size, &chunk)) return -1;
    } while (chunk.kind != LAST);
    *record = (Chunk){FULL, store->joined, store->joined + size};
    return at;
}

void take_history_rows(Store *store, PyThreadState **released) {
    Cursor cursor = {.released = *released};
    Py_ssize_t at = store->at, width = store->items.names.count, most = store->ends.len / 8;
    int64_t count = 0;
    Chunk record;
    while (store->rows < most && (at = record_at(store, at, &record)) >= 0) {
        Row row = {NULL, (double *)store->values.buf + store->rows * width,
                   (unsigned char *)store->marks.buf + store->rows * width, 0};
        int found = take_record(&cursor, record.at, record.end, &store->items, &row);
        if (found == STRANGE) break;
        count++;
        if (found != ONE_ROW) continue;
        ((int64_t *)store->ends.buf)[store->rows] = at;
        ((int64_t *)store->counts.buf)[store->rows++] = count;
        store->odd |= row.odd;
    }
    *released = cursor.released;
}

void release_store(Store *store) {
    Py_buffer *all[] = {&store->data, &store->names, &store->values, &store->marks, &store->ends, &store->counts};
    for (size_t place = 0; place < sizeof all / sizeof *all; place++) PyBuffer_Release(all[place]);
    free(store->joined);
    free_table(&store->items.names);
}
