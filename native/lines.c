#include "lines.h"
#include "number.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINE 4096 /* bytes of a line whose kind is looked up */
#define MAX_STEP_DIGITS 12
#define MAX_DRAWING 600 /* bytes of the drawing of a bar */
#define OTHER -1  /* sort of a line of no known kind */
#define METRIC -2 /* sort of a line that looks like a metric line */

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

/* Where `12 - ` stands after the next colon that such a thing follows, or NULL. */
static const char *find_step(const char *at, const char *end) {
    while ((at = memchr(at, ':', (size_t)(end - at)))) {
        const char *digit = ++at;
        if (end - at < 4 || !is_digit(*at)) continue;
        while (digit < end && digit - at < MAX_STEP_DIGITS && is_digit(*digit)) digit++;
        if (end - digit >= 3 && !memcmp(digit, " - ", 3)) return at;
    }
    return NULL;
}

/* What follows the first `step:` that begins a metric line, wherever it stands; NULL where there is none. */
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

/* The bytes of a line that are no digits; how many they are. `bare` has room for the line and 8 bytes more. */
static Py_ssize_t without_digits(const char *at, const char *end, char *bare) {
    Py_ssize_t size = 0;
    while (at < end) {
        uint64_t word, odd;
        if (end - at >= 8) { /* eight at once where none is one: less than ten, but for what stands above '0' */
            memcpy(&word, at, 8);
            memcpy(bare + size, at, 8);
            odd = word ^ 0x3030303030303030ull;
            odd |= (odd & 0x7F7F7F7F7F7F7F7Full) + 0x7676767676767676ull;
            if ((odd & 0x8080808080808080ull) == 0x8080808080808080ull) {
                at += 8, size += 8;
                continue;
            }
        }
        for (const char *stop = end - at > 8 ? at + 8 : end; at < stop; at++) {
            bare[size] = *at;
            size += !is_digit(*at);
        }
    }
    return size;
}

/* What follows the first `%|` that a line has, NULL where it has none or no digit before it. */
static const char *bar_of(const char *line, const char *end) {
    for (const char *at = line; (at = memchr(at, '%', (size_t)(end - at)));)
        if (++at < end && *at == '|') return at - line >= 2 && is_digit(at[-2]) ? at + 1 : NULL;
    return NULL;
}

/* The drawing of the first progress bar of a line: blocks (U+2588 to U+258F) and spaces between `5%|` and `|`. Empty, at
   the end of the line, where there is none. */
static Span drawing_of(const char *line, const char *end) {
    const char *start = bar_of(line, end), *at = start;
    while (at && at < end && *at != '|') {
        if (*at == ' ') at++;
        else if (end - at >= 3 && !memcmp(at, "\xE2\x96", 2) && ((unsigned char)at[2] & 0xF8) == 0x88) at += 3;
        else return (Span){end, 0};
    }
    return at && at < end && at - start <= MAX_DRAWING ? (Span){start, at - start} : (Span){end, 0};
}

/* The place of the kind of a line, if it holds the word that lines of this kind must hold. */
static int32_t kind_of(const Sorting *sorting, const char *at, const char *end) {
    char bare[MAX_LINE + 8];
    if (end - at > MAX_LINE) return OTHER;
    Span drawing = drawing_of(at, end);
    Py_ssize_t size = without_digits(at, drawing.at, bare);
    size += without_digits(drawing.at + drawing.size, end, bare + size);
    int32_t kind = find(&sorting->kinds, bare, size);
    return kind >= 0 && holds(at, end, sorting->words.items[kind]) ? kind : OTHER;
}

static int push_metric(Sorting *sorting, Py_ssize_t start, Py_ssize_t body, Py_ssize_t stop) {
    Numbers *metrics = &sorting->metrics;
    return push(metrics, (int32_t)start) && push(metrics, (int32_t)body) && push(metrics, (int32_t)stop) &&
           push(metrics, (int32_t)sorting->sorts.count);
}

int sort_lines(const char *text, const char *end, Sorting *sorting) {
    const char *line = text, *stop;
    for (; line < end; line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        const char *body = metrics_of(line, stop);
        if (body && !push_metric(sorting, line - text, body - text, stop - text)) return 0;
        int32_t sort = body ? METRIC : kind_of(sorting, line, stop);
        if (!push(&sorting->starts, (int32_t)(line - text)) || !push(&sorting->sorts, sort)) return 0;
    }
    return 1;
}

void free_sorting(Sorting *sorting) {
    free_table(&sorting->kinds);
    free_table(&sorting->words);
    free(sorting->starts.items);
    free(sorting->sorts.items);
    free(sorting->metrics.items);
}
