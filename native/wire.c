#include "wire.h"

#include <stddef.h>

/* The number whose 7 bits a byte stand here, the lowest first; NULL where it is cut or has more than 64 bits. */
static const char *varint_from(const char *at, const char *end, uint64_t *whole) {
    *whole = 0;
    for (int shift = 0; at < end && shift < 64; shift += 7) {
        unsigned char byte = (unsigned char)*at++;
        *whole |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return at;
    }
    return NULL;
}

const char *field_from(const char *at, const char *end, Field *field) {
    uint64_t key, size;
    if (!(at = varint_from(at, end, &key))) return NULL;
    field->number = key >> 3;
    field->kind = (int)(key & 7);
    if (field->kind == VARINT) return varint_from(at, end, &field->whole);
    if (field->kind == BYTES) {
        if (!(at = varint_from(at, end, &size))) return NULL;
    } else if (field->kind == FIXED64) size = 8;
    else if (field->kind == FIXED32) size = 4;
    else return NULL;
    if (size > (uint64_t)(end - at)) return NULL;
    field->at = at;
    field->end = at + size;
    return field->end;
}
