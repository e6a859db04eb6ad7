/* Fields of a message of Protocol Buffers. */

#ifndef KLINIC_WIRE_H
#define KLINIC_WIRE_H

#include <stdint.h>

enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

typedef struct {
    uint64_t number; /* of the field */
    int kind;
    uint64_t whole;       /* of a varint */
    const char *at, *end; /* of any other kind */
} Field;

/* Reads the field that stands here; the place after it, NULL where it is cut or of an unknown kind. */
const char *field_from(const char *at, const char *end, Field *field);

#endif
