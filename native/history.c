#include "history.h"
#include "number.h"
#include "wire.h"

#include <math.h>
#include <string.h>

/* Fields of a record, of its history and of an item there. What stands in the others of a record says nothing here. */
enum { HISTORY = 2, SUMMARY = 3, OUTPUT = 4, CONFIG = 6, OUTPUT_RAW = 13, RUN = 17, EXIT = 18 };
enum { ITEM = 1, STEP = 2 };
enum { KEY = 1, NESTED_KEY = 2, NUMBER = 6, JSON = 16 };

static int is_word(const Field *field, const char *word) {
    size_t size = strlen(word);
    return (size_t)(field->end - field->at) == size && !memcmp(field->at, word, size);
}

static int mark_of(double value) {
    return isfinite(value) ? FINITE : isnan(value) ? IS_NAN : value > 0 ? PLUS_INF : MINUS_INF;
}

/* A JSON text that is one number, or names one that JSON lacks; its mark, ABSENT where it is anything else. */
static int json_number(Cursor *cursor, const Field *text, double *value) {
    int places;
    if (text->at == text->end) return ABSENT;
    if (is_word(text, "NaN") || is_word(text, "\"NaN\"")) *value = Py_NAN;
    else if (is_word(text, "Infinity") || is_word(text, "\"Infinity\"")) *value = (double)INFINITY;
    else if (is_word(text, "-Infinity") || is_word(text, "\"-Infinity\"")) *value = -(double)INFINITY;
    else if (!is_json(text->at, text->end) ||
             number_from(text->at, text->end, &cursor->released, value, &places) != text->end)
        return ABSENT;
    return mark_of(*value);
}

/* One key and one number: 1 where an item is that, its column not taken yet. */
static int take_item(Cursor *cursor, const Field *item, const Items *items, Row *row) {
    Field key, value;
    double number;
    const char *at = field_from(item->at, item->end, &key);
    if (!at || key.kind != BYTES || (key.number != KEY && key.number != NESTED_KEY) || key.at == key.end) return 0;
    if (field_from(at, item->end, &value) != item->end) return 0;
    int32_t column = find(&items->names, key.at, key.end - key.at);
    if (column < 0 || row->marks[column]) return 0;
    int mark = ABSENT;
    if (value.number == JSON && value.kind == BYTES) mark = json_number(cursor, &value, &number);
    else if (value.number == NUMBER && value.kind == FIXED64) {
        memcpy(&number, value.at, sizeof number);
        mark = mark_of(number);
    }
    if (mark == ABSENT) return 0;
    row->values[column] = mark == FINITE ? number : Py_NAN;
    row->marks[column] = (unsigned char)mark;
    row->odd |= mark != FINITE;
    return 1;
}

/* The step that stands beside the items counts where none of them is the step. */
static int take_step(const Field *step, const Items *items, Row *row) {
    Field number;
    if (field_from(step->at, step->end, &number) != step->end || number.kind != VARINT || number.number != 1) return 0;
    if (number.whole >> 53 || items->step_name < 0) return 0;
    if (row->marks[items->step_name]) return 1;
    row->values[items->step_name] = (double)number.whole;
    row->marks[items->step_name] = FINITE;
    return 1;
}

static int take_history(Cursor *cursor, const Field *history, const Items *items, Row *row) {
    Field field, step = {0};
    int32_t width = items->names.count;
    for (int32_t place = 0; place < width; place++) row->values[place] = Py_NAN;
    memset(row->marks, ABSENT, (size_t)width);
    for (const char *at = history->at; at < history->end;) {
        if (!(at = field_from(at, history->end, &field)) || field.kind != BYTES) return 0;
        if (field.number == STEP && !step.number) step = field;
        else if (field.number != ITEM || !take_item(cursor, &field, items, row)) return 0;
    }
    return !step.number || take_step(&step, items, row);
}

int take_record(Cursor *cursor, const char *at, const char *end, const Items *items, Row *row) {
    Field field;
    int found = NO_ROW;
    while (at < end) {
        if (!(at = field_from(at, end, &field))) return STRANGE;
        switch (field.number) {
        case HISTORY:
            if (found == ONE_ROW || field.kind != BYTES || !take_history(cursor, &field, items, row)) return STRANGE;
            found = ONE_ROW;
            break;
        case OUTPUT:
        case CONFIG:
        case OUTPUT_RAW:
        case RUN:
        case EXIT: return STRANGE;
        default: break; /* a summary too: it is asked for only where there is no history */
        }
    }
    return found;
}
