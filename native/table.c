#include "table.h"

#include <stdlib.h>
#include <string.h>

static inline uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0xD6E8FEB86659FD93ull;
    return hash ^ hash >> 32;
}

/* Two hashes of every other word: they do not wait for each other. */
static uint64_t hash_of(const char *at, Py_ssize_t size) {
    uint64_t even = 0x9E3779B97F4A7C15ull ^ (uint64_t)size, odd = 0, words[2];
    for (; size >= 16; at += 16, size -= 16) {
        memcpy(words, at, 16);
        even = mixed(even, words[0]);
        odd = mixed(odd, words[1]);
    }
    words[0] = words[1] = 0;
    memcpy(words, at, (size_t)size);
    return mixed(mixed(even, words[0]), mixed(odd, words[1]));
}

int32_t find(const Table *table, const char *at, Py_ssize_t size) {
    for (size_t slot = hash_of(at, size) & table->mask;; slot = (slot + 1) & table->mask) {
        int32_t place = table->slots[slot];
        if (place < 0) return -1;
        if (table->items[place].size == size && !memcmp(table->items[place].at, at, (size_t)size)) return place;
    }
}

static size_t count_strings(const char *at, const char *end) {
    size_t count = 0;
    for (; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++) count++;
    return count;
}

/* Room for that many strings, less than half of the slots taken. */
static int make_room(Table *table, size_t count) {
    size_t slots = 8;
    while (slots < 2 * count + 2) slots *= 2;
    table->items = malloc((count + 1) * sizeof *table->items);
    table->slots = malloc(slots * sizeof *table->slots);
    table->mask = slots - 1;
    table->count = 0;
    if (!table->items || !table->slots || count > INT32_MAX / 4) return 0;
    memset(table->slots, -1, slots * sizeof *table->slots);
    return 1;
}

static void add(Table *table, const char *at, Py_ssize_t size) {
    size_t slot = hash_of(at, size) & table->mask;
    while (table->slots[slot] >= 0) slot = (slot + 1) & table->mask;
    table->items[table->count].at = at;
    table->items[table->count].size = size;
    table->slots[slot] = table->count++;
}

int fill_table(Table *table, const char *text, Py_ssize_t size) {
    const char *end = text + size, *stop;
    if (!make_room(table, count_strings(text, end))) return 0;
    for (const char *at = text; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1)
        add(table, at, stop - at);
    return 1;
}

void free_table(Table *table) {
    free(table->items);
    free(table->slots);
}
