"""LevelDB's log framing as W&B writes it: blocks of 32 KiB, records cut into chunks, a plain CRC-32 each."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

HEADER, BLOCK = 7, 32768
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
_CHUNK = struct.Struct("<IHB")


class Records:
    """Puts records together as bytes arrive. bad: chunks whose CRC is wrong, read all the same."""

    def __init__(self) -> None:
        self.bad = 0
        self.first_bad = 0
        self.lost = 0
        self.buffer = b""  # what is fed, from the last sound end on; `at`: how far it is read
        self.at = 0
        self.offset = 0  # of the buffer in the file
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The records that `data` completes; `jump` may be called between them."""
        self.buffer += data
        if self.offset == 0 and len(self.buffer) < HEADER:
            return
        self.at = HEADER if self.offset == 0 else 0
        while (chunk := self._chunk()) is not None:
            record = self._joined(*chunk)
            if record is not None:
                yield record
        self.buffer, self.offset, self.at = self.buffer[self.at :], self.offset + self.at, 0

    def whole(self) -> bool:
        """Whether a record begins where it is read next."""
        return not self._parts

    def jump(self, count: int) -> None:
        """Leave out bytes that were read otherwise."""
        self.at += count

    def _chunk(self) -> tuple[int, bytes] | None:
        """(type, payload) of the chunk that is next in the buffer; padding is stepped over."""
        while True:
            at, size_now = self.at, len(self.buffer)
            left = BLOCK - (self.offset + at) % BLOCK
            if at + min(left, HEADER) > size_now:
                return None
            crc, size, kind = _CHUNK.unpack_from(self.buffer, at) if left >= HEADER else (0, 0, 0)
            if FULL <= kind <= LAST and size <= left - HEADER:
                break
            if at + left > size_now:
                return None
            self._lose(self.buffer[at : at + left])
            self.at += left
        end = at + HEADER + size
        if end > size_now:
            return None
        payload = self.buffer[at + HEADER : end]
        self._check(crc, kind, payload, at)
        self.at = end
        return kind, payload

    def _lose(self, rest: bytes) -> None:
        """Step over the rest of a block: padding, or what damage made unreadable."""
        if any(rest):
            self.lost += 1
            self._parts = []

    def _check(self, crc: int, kind: int, payload: bytes, at: int) -> None:
        if zlib.crc32(payload, zlib.crc32(bytes([kind]))) != crc:
            self.first_bad = self.first_bad or self.offset + at
            self.bad += 1

    def _joined(self, kind: int, payload: bytes) -> bytes | None:
        if kind in (FULL, FIRST):
            self.lost += bool(self._parts)
            self._parts = []
        elif not self._parts:
            self.lost += 1
            return None
        self._parts.append(payload)
        if kind not in (FULL, LAST):
            return None
        record, self._parts = b"".join(self._parts), []
        return record

    def rest(self) -> bool:
        """Whether a record's end is missing."""
        return bool(self._parts) or bool(self.buffer.strip(b"\0"))
