"""TFRecord framing: length, its CRC, payload, payload CRC; damage is stepped over to the next sound frame."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache

MAX_RECORD = 1 << 26
_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def crc32c(data: bytes) -> int:
    """The Castagnoli CRC of bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


@lru_cache(4096)
def masked_crc(data: bytes) -> bytes:
    """The masked CRC as TFRecord writes it; few lengths occur, so they are remembered."""
    crc = crc32c(data)
    return _CRC.pack(((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def starts_a_record(data: bytes, at: int = 0) -> bool:
    """Whether a frame's length and the CRC of that length stand at a place."""
    length = data[at : at + 8]
    return (
        len(data) >= at + 12 and _LENGTH.unpack(length)[0] < MAX_RECORD and masked_crc(length) == data[at + 8 : at + 12]
    )


class Frames:
    """Cuts bytes into payloads as they arrive. skipped: bytes that belonged to no sound frame."""

    def __init__(self) -> None:
        self.skipped = 0
        self.first_skip = 0
        self.buffer = b""  # what is fed, from the last sound end on; `at`: how far it is read
        self.at = 0
        self.offset = 0  # of the buffer in the file

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """(payload, its masked CRC) of the frames that `data` completes; `jump` may be called between them."""
        buffer = self.buffer = self.buffer + data if self.buffer else data
        size, lengths = len(buffer), _LENGTH.unpack_from
        self.at = 0
        while (at := self.at) + 12 <= size:
            if masked_crc(buffer[at : at + 8]) != buffer[at + 8 : at + 12]:
                self.at = self._next_frame(buffer, at + 1)
                self._skip(at, self.at - at)
                continue
            end = at + 16 + lengths(buffer, at)[0]
            if end > size:
                break
            self.at = end
            yield buffer[at + 12 : end - 4], buffer[end - 4 : end]
        self.buffer = buffer[self.at :]
        self.offset += self.at
        self.at = 0

    def jump(self, count: int) -> None:
        """Leave out bytes that were read otherwise."""
        self.at += count

    def _skip(self, at: int, count: int) -> None:
        if not self.skipped:
            self.first_skip = self.offset + at
        self.skipped += count

    def _next_frame(self, buffer: bytes, at: int) -> int:
        """Where the next sound frame begins, or as far as can be told by now."""
        while True:
            zeros = buffer.find(b"\0\0\0\0", at + 4)  # the upper half of a length
            if zeros < 0 or zeros + 8 > len(buffer):
                return max(len(buffer) - 11, at)
            if starts_a_record(buffer, zeros - 4):
                return zeros - 4
            at = zeros - 3

    def rest(self) -> int:
        """Bytes of a frame whose end is missing."""
        return len(self.buffer)
