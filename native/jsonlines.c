#include "jsonlines.h"

#include <stdlib.h>
#include <string.h>

int prepare_lines(Lines *lines) {
    Layout *layout = &lines->layout;
    if (!fill_table(&layout->names, lines->names.buf, lines->names.len)) return 0;
    layout->usual = calloc((size_t)layout->names.count + 1, sizeof *layout->usual);
    return layout->usual != NULL;
}

const char *misplaced(const Lines *lines) {
    Py_ssize_t rows = lines->steps.len / 8, width = lines->layout.names.count;
    if (lines->at < 0 || lines->at > lines->text.len) return "json: no such place";
    if (!width) return "json: no names";
    if (lines->times.len / 8 < rows || lines->values.len / 8 / width < rows || lines->marks.len / width < rows)
        return "json: no room for the rows";
    return NULL;
}

static Row row_at(const Lines *lines, Py_ssize_t place) {
    Py_ssize_t first = place * lines->layout.names.count;
    return (Row){(int64_t *)lines->steps.buf + place, (double *)lines->values.buf + first,
                 (unsigned char *)lines->marks.buf + first, 0};
}

void take_lines(Lines *lines, PyThreadState **released) {
    const char *text = lines->text.buf, *end = text + lines->text.len, *stop;
    Cursor cursor = {.at = text + lines->at, .released = *released};
    for (Py_ssize_t room = lines->steps.len / 8; lines->rows < room && cursor.at < end; lines->rows++) {
        Row row = row_at(lines, lines->rows);
        if (!(stop = memchr(cursor.at, '\n', (size_t)(end - cursor.at)))) break;
        cursor.end = stop;
        if (!take_json(&cursor, &lines->layout, &row, (double *)lines->times.buf + lines->rows)) break;
        cursor.at = stop + 1;
        lines->at = cursor.at - text;
        lines->odd |= row.odd;
    }
    *released = cursor.released;
}

void release_lines(Lines *lines) {
    Py_buffer *all[] = {&lines->text, &lines->names, &lines->steps, &lines->times, &lines->values, &lines->marks};
    for (size_t place = 0; place < sizeof all / sizeof *all; place++) PyBuffer_Release(all[place]);
    free(lines->layout.usual);
    free_table(&lines->layout.names);
}
