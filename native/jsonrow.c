#include "jsonrow.h"
#include "number.h"

#include <string.h>

#define MAX_DIGITS 18 /* of a step: it is below 2^62 */

enum { STEP = 1, DATA = 2, TIME = 4 }; /* what a line has */

static void pass_spaces(Cursor *cursor) {
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\r')) cursor->at++;
}

/* A bracket, colon or comma, and the spaces around it. */
static int take_mark(Cursor *cursor, char mark) {
    pass_spaces(cursor);
    if (cursor->at == cursor->end || *cursor->at != mark) return 0;
    cursor->at++;
    pass_spaces(cursor);
    return 1;
}

/* The text up to the next quotation mark, and the colon after it; no text where they do not stand here. A key that is
   spelled with a backslash is none of the known ones. */
static Span take_name(Cursor *cursor) {
    const char *start = cursor->at + 1, *quote;
    if (cursor->end - cursor->at < 2 || *cursor->at != '"') return (Span){NULL, 0};
    if (!(quote = memchr(start, '"', (size_t)(cursor->end - start)))) return (Span){NULL, 0};
    cursor->at = quote + 1;
    return take_mark(cursor, ':') ? (Span){start, quote - start} : (Span){NULL, 0};
}

static int is_word(Span name, const char *word) {
    return name.at && (size_t)name.size == strlen(word) && !memcmp(name.at, word, (size_t)name.size);
}

/* The column of the key that stands next, its colon taken too; -1 where it is not known, or stood in this line before.
   `before`: the column before. */
static int32_t take_key(Cursor *cursor, Layout *layout, const Row *row, int32_t before) {
    Key *usual = &layout->usual[before];
    const char *start = cursor->at;
    if (usual->text.at && cursor->end - start > usual->text.size && is_same(start, usual->text.at, usual->text.size)) {
        cursor->at += usual->text.size;
        pass_spaces(cursor); /* the line before may have had none */
        return row->marks[usual->column] == ABSENT ? usual->column : -1;
    }
    Span name = take_name(cursor);
    int32_t column = name.at ? find(&layout->names, name.at, name.size) : -1;
    if (column < 0 || row->marks[column] != ABSENT) return -1;
    *usual = (Key){{start, cursor->at - start}, column};
    return column;
}

static int take_number(Cursor *cursor, double *value) {
    int places;
    const char *after = number_from(cursor->at, cursor->end, &cursor->released, value, &places);
    if (!after || !is_json(cursor->at, after)) return 0;
    cursor->at = after;
    return 1;
}

/* The mark of the value that stands next, ABSENT where it is neither a number nor a null. */
static int take_value(Cursor *cursor, double *value) {
    if (cursor->end - cursor->at < 4 || memcmp(cursor->at, "null", 4))
        return take_number(cursor, value) ? FINITE : ABSENT;
    cursor->at += 4;
    *value = Py_NAN;
    return IS_NULL;
}

/* The metrics; how many there are, 0 where they are not as expected. */
static int32_t take_data(Cursor *cursor, Layout *layout, Row *row) {
    int32_t column = layout->names.count, count = 0; /* the start */
    if (!take_mark(cursor, '{')) return 0;
    do {
        if ((column = take_key(cursor, layout, row, column)) < 0) return 0;
        int mark = take_value(cursor, &row->values[column]);
        if (mark == ABSENT) return 0;
        row->marks[column] = (unsigned char)mark;
        row->odd |= mark != FINITE;
        count++;
    } while (take_mark(cursor, ','));
    return take_mark(cursor, '}') ? count : 0;
}

static int take_step(Cursor *cursor, int64_t *step) {
    uint64_t digits = 0;
    const char *start = cursor->at;
    cursor->at = digits_from(start, cursor->end, &digits);
    *step = (int64_t)digits;
    return cursor->at > start && cursor->at - start <= MAX_DIGITS && is_json(start, cursor->at);
}

/* Values of the metrics that the line does not have; whether any of those that it has is a number. */
static int fill_gaps(Row *row, int32_t width, int32_t count) {
    for (int32_t place = 0; count < width && place < width; place++)
        if (row->marks[place] == ABSENT) row->values[place] = Py_NAN;
    return !row->odd || memchr(row->marks, FINITE, (size_t)width);
}

/* A key of the line and what belongs to it: what it is, 0 where it is not as expected. */
static int take_member(Cursor *cursor, Layout *layout, Row *row, double *time) {
    Span name = take_name(cursor);
    int32_t count;
    if (is_word(name, "step")) return take_step(cursor, row->step) ? STEP : 0;
    if (is_word(name, "time")) return take_number(cursor, time) ? TIME : 0;
    if (!is_word(name, "data") || !(count = take_data(cursor, layout, row))) return 0;
    return fill_gaps(row, layout->names.count, count) ? DATA : 0;
}

int take_json(Cursor *cursor, Layout *layout, Row *row, double *time) {
    int has = 0;
    memset(row->marks, ABSENT, (size_t)layout->names.count);
    *time = Py_NAN;
    if (!take_mark(cursor, '{')) return 0;
    do {
        int one = take_member(cursor, layout, row, time);
        if (!one || has & one) return 0;
        has |= one;
    } while (take_mark(cursor, ','));
    return take_mark(cursor, '}') && cursor->at == cursor->end && (has & (STEP | DATA)) == (STEP | DATA);
}
