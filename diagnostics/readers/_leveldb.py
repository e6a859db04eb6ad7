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
        self._buffer = b""
        self._offset = 0
        self._parts: list[bytes] = []
        self._at = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The records that `data` completes."""
        self._buffer += data
        if self._offset == 0 and len(self._buffer) < HEADER:
            return
        at = self._at = HEADER if self._offset == 0 else 0
        while (step := self._chunk(at)) is not None:
            kind, payload, at = step
            record = self._joined(kind, payload)
            if record is not None:
                yield record
        self._buffer, self._offset = self._buffer[self._at :], self._offset + self._at

    def _chunk(self, at: int) -> tuple[int, bytes, int] | None:
        """(type, payload, next position) of the chunk at a place in the buffer; padding is stepped over."""
        while True:
            self._at = at
            left = BLOCK - (self._offset + at) % BLOCK
            if at + min(left, HEADER) > len(self._buffer):
                return None
            crc, size, kind = _CHUNK.unpack_from(self._buffer, at) if left >= HEADER else (0, 0, 0)
            if FULL <= kind <= LAST and size <= left - HEADER:
                break
            if at + left > len(self._buffer):
                return None
            self._lose(self._buffer[at : at + left])
            at += left
        end = at + HEADER + size
        if end > len(self._buffer):
            return None
        payload = self._buffer[at + HEADER : end]
        self._check(crc, kind, payload, at)
        return kind, payload, end

    def _lose(self, rest: bytes) -> None:
        """Step over the rest of a block: padding, or what damage made unreadable."""
        if any(rest):
            self.lost += 1
            self._parts = []

    def _check(self, crc: int, kind: int, payload: bytes, at: int) -> None:
        if zlib.crc32(payload, zlib.crc32(bytes([kind]))) != crc:
            self.first_bad = self.first_bad or self._offset + at
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
        return bool(self._parts) or bool(self._buffer.strip(b"\0"))
