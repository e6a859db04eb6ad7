#include "row.h"
#include "number.h"

#include <string.h>

static int takes(Cursor *cursor, const char *word, Py_ssize_t size) {
    if (cursor->end - cursor->at < size || memcmp(cursor->at, word, (size_t)size)) return 0;
    cursor->at += size;
    return 1;
}

static int take_number(Cursor *cursor, double *value, int *places) {
    const char *after = number_from(cursor->at, cursor->end, &cursor->released, value, places);
    if (after) cursor->at = after;
    return after != NULL;
}

/* The same where no digit stands: `nan`, `inf`, `np.float64(0.5)`. */
static int take_word(Cursor *cursor, double *value, int *places) {
    int wrapped = takes(cursor, "np.float64(", 11) || takes(cursor, "np.float32(", 11);
    int mark = FINITE;
    *places = -2;
    if (takes(cursor, "nan", 3)) mark = IS_NAN;
    else if (takes(cursor, "inf", 3)) mark = PLUS_INF;
    else if (takes(cursor, "-inf", 4)) mark = MINUS_INF;
    else if (!take_number(cursor, value, places)) return ABSENT;
    if (mark != FINITE) *value = Py_NAN;
    else if (wrapped) *places = -1;
    return wrapped && !takes(cursor, ")", 1) ? ABSENT : mark;
}

/* The mark of the value that stands next, ABSENT where it is spelled another way. `places`: as of `number_from`, -2
   where it is not finite. */
static int take_value(Cursor *cursor, double *value, int *places) {
    if (cursor->at < cursor->end && is_digit(*cursor->at)) return take_number(cursor, value, places) ? FINITE : ABSENT;
    return take_word(cursor, value, places);
}

/* Whether all finite values up to here are plainly printed with one number of decimals, at least two, and padded. */
static int is_padded(const Cursor *cursor) { return cursor->decimals >= 2 && cursor->padded; }

static void note_places(Cursor *cursor, int places) {
    if (places == -2) return; /* not finite: says nothing */
    cursor->decimals = cursor->decimals == -2 || cursor->decimals == places ? places : -1;
    cursor->padded |= cursor->at[-1] == '0';
}

/* The column that came next in a line before, its key and colon taken; -1 where another key stands here. */
static int32_t take_usual_key(Cursor *cursor, const Shape *shape, int32_t before) {
    int32_t column = shape->follows[before];
    if (column >= shape->names.count) return -1;
    Span name = shape->names.items[column];
    if (cursor->end - cursor->at <= name.size || cursor->at[name.size] != ':') return -1;
    if (!is_same(cursor->at, name.at, name.size)) return -1;
    cursor->at += name.size + 1;
    return column;
}

/* The column of the key that stands next, its colon taken too; -1 where it is not known. */
static int32_t take_key(Cursor *cursor, Shape *shape, int32_t before) {
    int32_t column = take_usual_key(cursor, shape, before);
    if (column >= 0) return column;
    const char *colon = memchr(cursor->at, ':', (size_t)(cursor->end - cursor->at));
    column = colon ? find(&shape->names, cursor->at, colon - cursor->at) : -1;
    if (column >= 0) {
        shape->follows[before] = column;
        cursor->at = colon + 1;
    }
    return column;
}

static int is_known_pattern(Shape *shape) {
    size_t width = (size_t)shape->names.count;
    if (shape->pattern && !memcmp(shape->held, shape->pattern, width)) return 1;
    for (Py_ssize_t place = 0; place < shape->pattern_count; place++) {
        shape->pattern = shape->patterns + (size_t)place * width;
        if (!memcmp(shape->held, shape->pattern, width)) return 1;
    }
    shape->pattern = NULL;
    return 0;
}

/* A key and its value; the column of the key, -1 where they are not as expected. */
static int32_t take_pair(Cursor *cursor, Shape *shape, Row *row, int32_t before) {
    int32_t column = take_key(cursor, shape, before);
    int places;
    if (column < 0 || shape->held[column]) return -1;
    shape->held[column] = 1;
    int mark = take_value(cursor, &row->values[column], &places);
    if (mark == ABSENT) return -1;
    if (cursor->at == cursor->end && is_padded(cursor)) return -1; /* the last value may lack digits */
    note_places(cursor, places);
    row->marks[column] = (unsigned char)mark;
    row->odd |= mark != FINITE;
    return column;
}

static void begin_row(Cursor *cursor, Shape *shape, Row *row) {
    int32_t width = shape->names.count;
    cursor->decimals = -2;
    cursor->padded = 0;
    for (int32_t place = 0; place < width; place++) row->values[place] = Py_NAN;
    memset(row->marks, ABSENT, (size_t)width);
    memset(shape->held, 0, (size_t)width);
}

int take_row(Cursor *cursor, Shape *shape, Row *row) {
    int32_t column = shape->names.count; /* the start of a line */
    uint64_t digits = 0;
    begin_row(cursor, shape, row);
    cursor->at = digits_from(cursor->at, cursor->end, &digits);
    *row->step = (int64_t)digits;
    while (takes(cursor, " - ", 3))
        if ((column = take_pair(cursor, shape, row, column)) < 0) return 0;
    return cursor->at == cursor->end && !is_padded(cursor) && is_known_pattern(shape);
}
