/* The hot loop of klinic's console reader: lines sorted, metric lines turned into numbers.

Two functions, both without state and without the interpreter's lock while they work:

  lines(text, kinds, words)  sorts whole lines into metric lines, lines of a known kind, and others
  rows(...)                  reads metric lines whose keys and prefix are known

What is not exactly as expected is left to the caller, who reads it in Python. Numbers are those of Python's float(). */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INTERFACE 1    /* raised whenever a function changes: klinic uses the one it knows */
#define MAX_LINE 4096  /* bytes of a line whose kind is looked up */
#define MAX_NUMBER 63  /* characters of a number that is read here */
#define MAX_STEP_DIGITS 12
#define OTHER -1  /* sort of a line of no known kind */
#define METRIC -2 /* sort of a line that looks like a metric line */

enum { ABSENT, FINITE, IS_NAN, PLUS_INF, MINUS_INF }; /* marks of a value; from 2 on one more than klinic's codes */

typedef struct {
    const char *at;
    Py_ssize_t size;
} Span;

static int is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* ---- tables of byte strings ------------------------------------------------------------------------------------ */

typedef struct {
    Span *items;
    int32_t *slots; /* hash -> place of an item, -1 where free */
    size_t mask;
    int32_t count;
} Table;

static uint64_t hash_of(const char *at, Py_ssize_t size) {
    uint64_t hash = 0x9E3779B97F4A7C15ull ^ (uint64_t)size, word;
    for (; size >= 8; at += 8, size -= 8) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0xD6E8FEB86659FD93ull;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, at, (size_t)size);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93ull;
    return hash ^ hash >> 32;
}

static int32_t find(const Table *table, const char *at, Py_ssize_t size) {
    for (size_t slot = hash_of(at, size) & table->mask;; slot = (slot + 1) & table->mask) {
        int32_t place = table->slots[slot];
        if (place < 0) return -1;
        if (table->items[place].size == size && !memcmp(table->items[place].at, at, (size_t)size)) return place;
    }
}

static void free_table(Table *table) {
    free(table->items);
    free(table->slots);
}

/* The strings of `text`, each of them ended by a line feed; the table points into it. 0 where memory ends. */
static int fill_table(Table *table, const char *text, Py_ssize_t size) {
    const char *end = text + size, *stop;
    size_t count = 0, slots = 8;
    for (const char *at = text; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++) count++;
    while (slots < 2 * count + 2) slots *= 2;
    table->items = malloc((count + 1) * sizeof *table->items);
    table->slots = malloc(slots * sizeof *table->slots);
    table->mask = slots - 1;
    table->count = 0;
    if (!table->items || !table->slots || count > INT32_MAX / 4) return 0;
    memset(table->slots, -1, slots * sizeof *table->slots);
    for (const char *at = text; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
        Span *item = &table->items[table->count];
        item->at = at;
        item->size = stop - at;
        size_t slot = hash_of(at, item->size) & table->mask;
        while (table->slots[slot] >= 0) slot = (slot + 1) & table->mask;
        table->slots[slot] = table->count++;
    }
    return 1;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

typedef struct {
    int32_t *items;
    size_t count, room;
} Numbers;

static int push(Numbers *numbers, int32_t value) {
    if (numbers->count == numbers->room) {
        size_t room = numbers->room ? 2 * numbers->room : 4096;
        int32_t *items = realloc(numbers->items, room * sizeof *items);
        if (!items) return 0;
        numbers->items = items;
        numbers->room = room;
    }
    numbers->items[numbers->count++] = value;
    return 1;
}

/* Where `step:12 - ` stands in a line, or NULL. */
static const char *find_step(const char *at, const char *end) {
    while ((at = memchr(at, ':', (size_t)(end - at)))) {
        const char *digit = ++at;
        if (end - at < 4 || !is_digit(*at)) continue;
        while (digit < end && digit - at < MAX_STEP_DIGITS && is_digit(*digit)) digit++;
        if (end - digit >= 3 && !memcmp(digit, " - ", 3)) return at;
    }
    return NULL;
}

/* The same for a line that may begin anywhere before: what follows the first `step:` that is one. */
static const char *metrics_of(const char *line, const char *end) {
    for (const char *at = line; (at = find_step(at, end));)
        if (at - line >= 5 && !memcmp(at - 5, "step:", 5)) return at;
    return NULL;
}

static int holds(const char *at, const char *end, Span word) {
    if (!word.size) return 1;
    while (end - at >= word.size && (at = memchr(at, *word.at, (size_t)(end - at - word.size + 1)))) {
        if (!memcmp(at, word.at, (size_t)word.size)) return 1;
        at++;
    }
    return 0;
}

/* The place of the kind of a line, if it holds the word that lines of this kind must hold. */
static int32_t kind_of(const Table *kinds, const Table *words, const char *at, const char *end) {
    char bare[MAX_LINE];
    Py_ssize_t size = 0;
    if (end - at > MAX_LINE) return OTHER;
    for (const char *next = at; next < end; next++) {
        bare[size] = *next;
        size += !is_digit(*next);
    }
    int32_t kind = find(kinds, bare, size);
    return kind >= 0 && holds(at, end, words->items[kind]) ? kind : OTHER;
}

static int sort_lines(const char *text, const char *end, const Table *kinds, const Table *words, Numbers *starts,
                      Numbers *sorts, Numbers *metrics) {
    const char *line = text, *stop;
    for (; line < end; line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        const char *body = metrics_of(line, stop);
        if (body && (!push(metrics, (int32_t)(line - text)) || !push(metrics, (int32_t)(body - text)) ||
                     !push(metrics, (int32_t)(stop - text)) || !push(metrics, (int32_t)sorts->count)))
            return 0;
        if (!push(starts, (int32_t)(line - text)) || !push(sorts, body ? METRIC : kind_of(kinds, words, line, stop))) return 0;
    }
    return 1;
}

static PyObject *bytes_of(const Numbers *numbers) {
    return PyBytes_FromStringAndSize((const char *)numbers->items, (Py_ssize_t)(numbers->count * sizeof(int32_t)));
}

static PyObject *lines(PyObject *self, PyObject *args) {
    Py_buffer text, kinds, words;
    Numbers starts = {0}, sorts = {0}, metrics = {0};
    Table known = {0}, bound = {0};
    PyObject *found = NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*:lines", &text, &kinds, &words)) return NULL;
    int filled = fill_table(&known, kinds.buf, kinds.len) && fill_table(&bound, words.buf, words.len);
    if (filled && text.len < INT32_MAX - 1 && known.count == bound.count) {
        int done;
        Py_BEGIN_ALLOW_THREADS
        done = sort_lines(text.buf, (const char *)text.buf + text.len, &known, &bound, &starts, &sorts, &metrics);
        Py_END_ALLOW_THREADS
        found = done ? Py_BuildValue("NNN", bytes_of(&starts), bytes_of(&sorts), bytes_of(&metrics)) : PyErr_NoMemory();
    } else if (filled) {
        PyErr_SetString(PyExc_ValueError, "lines: text of 2 GiB or more, or kinds and words differ in number");
    } else {
        PyErr_NoMemory();
    }
    free_table(&known);
    free_table(&bound);
    free(starts.items);
    free(sorts.items);
    free(metrics.items);
    PyBuffer_Release(&text);
    PyBuffer_Release(&kinds);
    PyBuffer_Release(&words);
    return found;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

#ifdef __SIZEOF_INT128__

/* whole * 2^power to the nearest double, ties to even; `more`: something below one is to be added to `whole`.
   The caller sees to it that `whole` has more than 53 bits where `more` is set, and that the result is normal. */
static double rounded(unsigned __int128 whole, int more, int power) {
    uint64_t high = (uint64_t)(whole >> 64), bits;
    int away = (high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)whole)) - 53;
    double scale;
    if (away > 0) {
        unsigned __int128 kept = whole >> away, rest = whole - (kept << away), half = (unsigned __int128)1 << (away - 1);
        whole = kept + (rest > half || (rest == half && (more || (kept & 1))));
        power += away;
    }
    bits = (uint64_t)(power + 1023) << 52; /* 2^power as a double's bits: the product below is exact */
    memcpy(&scale, &bits, sizeof scale);
    return (double)(uint64_t)whole * scale;
}

/* digits * 10^exponent to the nearest double, in whole numbers: 10^n is 5^n * 2^n, and 5^27 fits into 63 bits.
   0 where the exponent is too large for that. */
static int scaled(uint64_t digits, int exponent, double *value) {
    static const uint64_t FIVES[] = {
        1ull, 5ull, 25ull, 125ull, 625ull, 3125ull, 15625ull, 78125ull, 390625ull, 1953125ull, 9765625ull, 48828125ull,
        244140625ull, 1220703125ull, 6103515625ull, 30517578125ull, 152587890625ull, 762939453125ull, 3814697265625ull,
        19073486328125ull, 95367431640625ull, 476837158203125ull, 2384185791015625ull, 11920928955078125ull,
        59604644775390625ull, 298023223876953125ull, 1490116119384765625ull, 7450580596923828125ull};
    if (exponent > 27 || exponent < -27) return 0;
    if (!digits) {
        *value = 0.0;
    } else if (exponent >= 0) {
        *value = rounded((unsigned __int128)digits * FIVES[exponent], 0, exponent);
    } else { /* shifted so far that the quotient has 63 or 64 bits */
        uint64_t five = FIVES[-exponent];
        int shift = __builtin_clzll(digits) + 63 - __builtin_clzll(five);
        unsigned __int128 whole = (unsigned __int128)digits << shift, quotient = whole / five;
        *value = rounded(quotient, quotient * five != whole, exponent - shift);
    }
    return 1;
}

#else

static int scaled(uint64_t digits, int exponent, double *value) {
    (void)digits, (void)exponent, (void)value;
    return 0;
}

#endif

/* Python's own reading of a number; the interpreter's lock is taken for it. 0 where it is none, or no finite one. */
static int as_python(const char *at, Py_ssize_t size, PyThreadState **released, double *value) {
    char text[MAX_NUMBER + 1];
    if (size > MAX_NUMBER) return 0;
    memcpy(text, at, (size_t)size);
    text[size] = 0;
    PyEval_RestoreThread(*released);
    *value = PyOS_string_to_double(text, NULL, NULL);
    int good = !PyErr_Occurred();
    PyErr_Clear();
    *released = PyEval_SaveThread();
    return good && isfinite(*value);
}

/* ---- metric lines ----------------------------------------------------------------------------------------------- */

typedef struct {
    const char *at, *end;
    PyThreadState *released;
    /* How the finite values of a line before the one at hand were printed: -2 none yet, -1 not plainly or in several
       ways, else digits after the point; and whether one of them ends with a 0. */
    int decimals, padded;
} Cursor;

static int takes(Cursor *cursor, const char *word, Py_ssize_t size) {
    if (cursor->end - cursor->at < size || memcmp(cursor->at, word, (size_t)size)) return 0;
    cursor->at += size;
    return 1;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Eight digits at once: in one word, all bytes are tested, then neighbours joined three times. 0 where they are none. */
static int eight_digits(const char *at, uint64_t *digits) {
    uint64_t word;
    memcpy(&word, at, 8);
    if ((word & 0xF0F0F0F0F0F0F0F0ull) != 0x3030303030303030ull ||
        ((word + 0x0606060606060606ull) & 0xF0F0F0F0F0F0F0F0ull) != 0x3030303030303030ull)
        return 0;
    word = (word & 0x0F0F0F0F0F0F0F0Full) * 2561 >> 8;
    word = (word & 0x00FF00FF00FF00FFull) * 6553601 >> 16;
    word = (word & 0x0000FFFF0000FFFFull) * 42949672960001ull >> 32;
    *digits = *digits * 100000000 + word;
    return 1;
}
#else
static int eight_digits(const char *at, uint64_t *digits) { return (void)at, (void)digits, 0; }
#endif

/* The digits that stand here are added to `digits`, which wraps where there are more than 19 of them. */
static const char *digits_from(const char *at, const char *end, uint64_t *digits) {
    while (end - at >= 8 && eight_digits(at, digits)) at += 8;
    for (; at < end && is_digit(*at); at++) *digits = *digits * 10 + (uint64_t)(*at - '0');
    return at;
}

/* Whether the digits between two places, a point among them, are too many for 64 bits. */
static int too_many(const char *at, const char *end) {
    if (end - at <= 19) return 0;
    while (at < end && (*at == '0' || *at == '.')) at++;
    return end - at - (memchr(at, '.', (size_t)(end - at)) != NULL) > 19;
}

/* An exponent after `e`, up to 4 digits; NULL where there is none. */
static const char *exponent_from(const char *at, const char *end, int *exponent) {
    int down = at < end && *at == '-';
    at += down || (at < end && *at == '+');
    const char *start = at;
    for (; at < end && is_digit(*at) && at - start < 4; at++) *exponent = *exponent * 10 + (*at - '0');
    *exponent = down ? -*exponent : *exponent;
    return at == start || (at < end && is_digit(*at)) ? NULL : at;
}

/* A number as JSON has it; `places`: digits after the point, -1 where it has an exponent or no point. 0 where it is
   none. */
static int take_number(Cursor *cursor, double *value, int *places) {
    const char *start = cursor->at, *end = cursor->end, *part;
    int negative = start < end && *start == '-', exponent = 0, fraction = 0;
    uint64_t digits = 0;
    const char *at = digits_from(part = start + negative, end, &digits), *stop;
    if (at == part) return 0;
    *places = -1;
    if (at < end && *at == '.') {
        const char *point = at + 1;
        at = digits_from(point, end, &digits);
        if (at == point || at - point > MAX_NUMBER) return 0;
        *places = fraction = (int)(at - point);
    }
    stop = at;
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (!(at = exponent_from(at + 1, end, &exponent))) return 0;
        *places = -1;
    }
    cursor->at = at;
    if (too_many(part, stop) || !scaled(digits, exponent - fraction, value))
        return as_python(start, at - start, &cursor->released, value);
    if (negative) *value = -*value;
    return 1;
}

/* The mark of the value that stands next, `np.float64(0.5)` included; ABSENT where it is spelled another way. */
static int take_value(Cursor *cursor, double *value, int *places) {
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

/* Whether all finite values up to here are plainly printed with one number of decimals, at least two, and padded. */
static int is_padded(const Cursor *cursor) { return cursor->decimals >= 2 && cursor->padded; }

static void note_places(Cursor *cursor, int places) {
    if (places == -2) return; /* not finite: says nothing */
    cursor->decimals = cursor->decimals == -2 || cursor->decimals == places ? places : -1;
    cursor->padded |= cursor->at[-1] == '0';
}

typedef struct {
    Table names;
    int32_t *follows;     /* column -> the one that came after it; the last element is for the start of a line */
    unsigned char *held;  /* of the line at hand */
    const char *patterns; /* sets of columns, a row of 0 and 1 each */
    Py_ssize_t pattern_count;
    const char *pattern; /* of the line before */
} Shape;

/* The column of the key that stands next, its colon taken too; -1 where it is not known. */
static int32_t take_key(Cursor *cursor, Shape *shape, int32_t before) {
    int32_t column = shape->follows[before];
    if (column < shape->names.count) {
        Span name = shape->names.items[column];
        if (cursor->end - cursor->at > name.size && cursor->at[name.size] == ':' && takes(cursor, name.at, name.size)) {
            cursor->at++;
            return column;
        }
    }
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

/* One line, from the digits of its step on; 0 where it is not as expected. */
static int take_row(Cursor *cursor, Shape *shape, int64_t *step, double *values, unsigned char *marks, int *odd) {
    int32_t width = shape->names.count, column = width;
    uint64_t digits = 0;
    int places;
    cursor->decimals = -2;
    cursor->padded = 0;
    for (int32_t place = 0; place < width; place++) values[place] = Py_NAN;
    memset(marks, ABSENT, (size_t)width);
    memset(shape->held, 0, (size_t)width);
    cursor->at = digits_from(cursor->at, cursor->end, &digits);
    *step = (int64_t)digits;
    while (takes(cursor, " - ", 3)) {
        column = take_key(cursor, shape, column);
        if (column < 0 || shape->held[column]) return 0;
        shape->held[column] = 1;
        int mark = take_value(cursor, &values[column], &places);
        if (mark == ABSENT) return 0;
        if (cursor->at == cursor->end && is_padded(cursor)) return 0; /* the last value may lack digits */
        note_places(cursor, places);
        marks[column] = (unsigned char)mark;
        *odd |= mark != FINITE;
    }
    return cursor->at == cursor->end && !is_padded(cursor) && is_known_pattern(shape);
}

typedef struct {
    Py_buffer text, lines, names, patterns, befores, steps, values, marks;
    Py_ssize_t first, last;
} Job;

static void release(Job *job) {
    Py_buffer *all[] = {&job->text,    &job->lines, &job->names,  &job->patterns,
                        &job->befores, &job->steps, &job->values, &job->marks};
    for (size_t place = 0; place < sizeof all / sizeof *all; place++) PyBuffer_Release(all[place]);
}

/* What is wrong with the sizes of a call, or NULL. */
static const char *misfit(const Job *job, Py_ssize_t width) {
    Py_ssize_t rows = job->last - job->first;
    if (job->first < 0 || rows < 0 || job->lines.len / 16 < job->last) return "rows: no such lines";
    if (!width || job->patterns.len % width) return "rows: patterns and names differ in length";
    if (job->steps.len / 8 < rows || job->values.len / 8 / width < rows || job->marks.len / width < rows)
        return "rows: no room for the rows";
    for (Py_ssize_t place = job->first; place < job->last; place++) {
        const int32_t *line = (const int32_t *)job->lines.buf + 4 * place;
        if (line[0] < 0 || line[1] < line[0] + 5 || line[2] < line[1] || line[2] > job->text.len)
            return "rows: a line outside of the text";
    }
    return NULL;
}

static Py_ssize_t take_rows(const Job *job, Shape *shape, const Table *befores, int *odd, PyThreadState **released) {
    Py_ssize_t width = shape->names.count, rows = job->last - job->first, row = 0;
    Span before = {NULL, -1};
    Cursor cursor = {0};
    cursor.released = *released;
    for (; row < rows; row++) {
        const int32_t *line = (const int32_t *)job->lines.buf + 4 * (job->first + row);
        const char *text = job->text.buf;
        Py_ssize_t size = line[1] - 5 - line[0]; /* what stands before `step:` */
        if (size != before.size || memcmp(text + line[0], before.at, (size_t)size)) {
            if (find(befores, text + line[0], size) < 0) break;
            before.at = text + line[0];
            before.size = size;
        }
        cursor.at = text + line[1];
        cursor.end = text + line[2];
        int seen = 0;
        if (!take_row(&cursor, shape, (int64_t *)job->steps.buf + row, (double *)job->values.buf + row * width,
                      (unsigned char *)job->marks.buf + row * width, &seen))
            break;
        *odd |= seen;
    }
    *released = cursor.released;
    return row;
}

static int prepare(const Job *job, Shape *shape, Table *befores) {
    if (!fill_table(befores, job->befores.buf, job->befores.len)) return 0;
    size_t width = (size_t)shape->names.count;
    shape->follows = malloc((width + 1) * sizeof *shape->follows);
    shape->held = malloc(width + 1);
    if (!shape->follows || !shape->held) return 0;
    for (size_t column = 0; column <= width; column++)
        shape->follows[column] = column == width ? 0 : (int32_t)column + 1;
    shape->patterns = job->patterns.buf;
    shape->pattern_count = width ? job->patterns.len / (Py_ssize_t)width : 0;
    return 1;
}

static PyObject *rows(PyObject *self, PyObject *args) {
    Job job;
    Shape shape = {0};
    Table befores = {0};
    PyObject *found = NULL;
    if (!PyArg_ParseTuple(args, "y*y*nny*y*y*w*w*w*:rows", &job.text, &job.lines, &job.first, &job.last, &job.names,
                          &job.patterns, &job.befores, &job.steps, &job.values, &job.marks))
        return NULL;
    if (!fill_table(&shape.names, job.names.buf, job.names.len) || !prepare(&job, &shape, &befores)) {
        PyErr_NoMemory();
    } else {
        const char *wrong = misfit(&job, shape.names.count);
        if (wrong) {
            PyErr_SetString(PyExc_ValueError, wrong);
        } else {
            int odd = 0;
            PyThreadState *released = PyEval_SaveThread();
            Py_ssize_t count = take_rows(&job, &shape, &befores, &odd, &released);
            PyEval_RestoreThread(released);
            found = Py_BuildValue("ni", count, odd);
        }
    }
    free(shape.follows);
    free(shape.held);
    free_table(&shape.names);
    free_table(&befores);
    release(&job);
    return found;
}

/* ---- the module ------------------------------------------------------------------------------------------------- */

static PyMethodDef FUNCTIONS[] = {
    {"lines", lines, METH_VARARGS,
     "lines(text, kinds, words) -> (starts, sorts, metrics), int32 arrays as bytes.\n\n"
     "text: whole lines. kinds: lines without their digits, words: what a line must hold to be of the kind, as many;\n"
     "each of them ended by a line feed. starts: where each line begins. sorts: the place of its kind, -1 for none of\n"
     "them, -2 for a metric line.\n"
     "metrics: (start, what follows `step:`, end, number of the line) of each metric line."},
    {"rows", rows, METH_VARARGS,
     "rows(text, metrics, first, last, names, patterns, befores, steps, values, marks) -> (count, odd).\n\n"
     "Reads metric lines [first, last) of `metrics` (see `lines`) until one is not as expected; count: how many.\n"
     "names: keys, befores: what may stand before `step:`, each of them ended by a line feed. patterns: sets of keys\n"
     "that may stand in a line, a byte 0 or 1 for each name. Written: steps (int64, a row each), values (float64,\n"
     "rows x names, NaN where there is none), marks (a byte each: 0 absent, 1 finite, 2 NaN, 3 +inf, 4 -inf).\n"
     "odd: whether any value is not finite."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "klinic_native", "The hot loop of klinic's console reader.",
                                    -1, FUNCTIONS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_klinic_native(void) {
    PyObject *module = PyModule_Create(&MODULE);
    if (module && PyModule_AddIntConstant(module, "INTERFACE", INTERFACE)) Py_CLEAR(module);
    return module;
}
