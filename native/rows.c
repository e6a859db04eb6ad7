#include "rows.h"

#include <stdlib.h>
#include <string.h>

/* Of a metric line: start, what follows `step:`, end, number of the line. */
static const int32_t *line_at(const Job *job, Py_ssize_t place) { return (const int32_t *)job->lines.buf + 4 * place; }

static int prepare_shape(Shape *shape, const Py_buffer *names, const Py_buffer *patterns) {
    if (!fill_table(&shape->names, names->buf, names->len)) return 0;
    size_t width = (size_t)shape->names.count;
    shape->follows = malloc((width + 1) * sizeof *shape->follows);
    shape->held = malloc(width + 1);
    if (!shape->follows || !shape->held) return 0;
    for (size_t column = 0; column <= width; column++)
        shape->follows[column] = column == width ? 0 : (int32_t)column + 1;
    shape->patterns = patterns->buf;
    shape->pattern_count = width ? patterns->len / (Py_ssize_t)width : 0;
    return 1;
}

int prepare(Job *job) {
    return prepare_shape(&job->shape, &job->names, &job->patterns) &&
           fill_table(&job->known_befores, job->befores.buf, job->befores.len);
}

const char *misfit(const Job *job) {
    Py_ssize_t rows = job->last - job->first, width = job->shape.names.count;
    if (job->first < 0 || rows < 0 || job->lines.len / 16 < job->last) return "rows: no such lines";
    if (!width || job->patterns.len % width) return "rows: patterns and names differ in length";
    if (job->steps.len / 8 < rows || job->values.len / 8 / width < rows || job->marks.len / width < rows)
        return "rows: no room for the rows";
    for (Py_ssize_t place = job->first; place < job->last; place++) {
        const int32_t *line = line_at(job, place);
        if (line[0] < 0 || line[1] < line[0] + 5 || line[2] < line[1] || line[2] > job->text.len)
            return "rows: a line outside of the text";
    }
    return NULL;
}

/* Whether what stands before `step:` is known; `before`: that of the line before, then of this one. */
static int is_known_before(const Table *befores, Span now, Span *before) {
    if (now.size == before->size && !memcmp(now.at, before->at, (size_t)now.size)) return 1;
    if (find(befores, now.at, now.size) < 0) return 0;
    *before = now;
    return 1;
}

static Row row_at(const Job *job, Py_ssize_t place) {
    Py_ssize_t first = place * job->shape.names.count;
    return (Row){(int64_t *)job->steps.buf + place, (double *)job->values.buf + first,
                 (unsigned char *)job->marks.buf + first, 0};
}

Py_ssize_t take_rows(Job *job, PyThreadState **released, int *odd) {
    const char *text = job->text.buf;
    Span before = {NULL, -1};
    Cursor cursor = {.released = *released};
    Py_ssize_t place = 0;
    for (; place < job->last - job->first; place++) {
        const int32_t *line = line_at(job, job->first + place);
        Row row = row_at(job, place);
        if (!is_known_before(&job->known_befores, (Span){text + line[0], line[1] - 5 - line[0]}, &before)) break;
        cursor.at = text + line[1];
        cursor.end = text + line[2];
        if (!take_row(&cursor, &job->shape, &row)) break;
        *odd |= row.odd;
    }
    *released = cursor.released;
    return place;
}

void release(Job *job) {
    Py_buffer *all[] = {&job->text,    &job->lines, &job->names,  &job->patterns,
                        &job->befores, &job->steps, &job->values, &job->marks};
    for (size_t place = 0; place < sizeof all / sizeof *all; place++) PyBuffer_Release(all[place]);
    free(job->shape.follows);
    free(job->shape.held);
    free_table(&job->shape.names);
    free_table(&job->known_befores);
}
