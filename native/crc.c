/* Eight bytes at once: table k has what a byte contributes that k more bytes come after. */

#include "crc.h"

#include <string.h>

#define CASTAGNOLI 0x82F63B78u
#define ZLIB 0xEDB88320u

typedef uint32_t Tables[8][256];

static Tables castagnoli, zlib;
static int has_instruction;

static void fill(Tables tables, uint32_t polynomial) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
        tables[0][byte] = crc;
    }
    for (int after = 1; after < 8; after++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t crc = tables[after - 1][byte];
            tables[after][byte] = crc >> 8 ^ tables[0][crc & 0xFF];
        }
}

static uint32_t sliced(Tables tables, uint32_t crc, const unsigned char *at, size_t size) {
    for (; size >= 8; at += 8, size -= 8) {
        crc ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        crc = tables[7][crc & 0xFF] ^ tables[6][crc >> 8 & 0xFF] ^ tables[5][crc >> 16 & 0xFF] ^ tables[4][crc >> 24] ^
              tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^ tables[0][at[7]];
    }
    for (; size; at++, size--) crc = crc >> 8 ^ tables[0][(crc ^ *at) & 0xFF];
    return crc;
}

#if defined(__x86_64__) && defined(__GNUC__)

__attribute__((target("sse4.2"))) static uint32_t instructed(uint32_t crc, const unsigned char *at, size_t size) {
    uint64_t whole = crc, word;
    for (; size >= 8; at += 8, size -= 8) {
        memcpy(&word, at, 8);
        whole = __builtin_ia32_crc32di(whole, word);
    }
    crc = (uint32_t)whole;
    for (; size; at++, size--) crc = __builtin_ia32_crc32qi(crc, *at);
    return crc;
}

static int find_instruction(void) { return __builtin_cpu_supports("sse4.2") != 0; }

#else

static uint32_t instructed(uint32_t crc, const unsigned char *at, size_t size) {
    return sliced(castagnoli, crc, at, size);
}

static int find_instruction(void) { return 0; }

#endif

void prepare_crcs(void) {
    fill(castagnoli, CASTAGNOLI);
    fill(zlib, ZLIB);
    has_instruction = find_instruction();
}

uint32_t crc32c(const unsigned char *at, size_t size) {
    return ~(has_instruction ? instructed(~0u, at, size) : sliced(castagnoli, ~0u, at, size));
}

uint32_t crc32_after(uint32_t crc, const unsigned char *at, size_t size) { return ~sliced(zlib, ~crc, at, size); }
