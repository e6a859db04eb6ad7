/* CRC-32C (Castagnoli), by the processor's own instruction where it has one, and CRC-32 (zlib's). */

#ifndef KLINIC_CRC_H
#define KLINIC_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Makes the tables; to be called before any other function here. */
void prepare_crcs(void);

uint32_t crc32c(const unsigned char *at, size_t size);

/* Of what `crc` is the checksum of, and these bytes after it. */
uint32_t crc32_after(uint32_t crc, const unsigned char *at, size_t size);

#endif
