"""Text in UTF-16 and UTF-32 as UTF-8, also where a file changes from one to the other between two lines.

PowerShell's `>` writes UTF-16 with a byte order mark, its `>>` UTF-16 without one; other programs append UTF-8.
"""

from __future__ import annotations

import codecs
import re

# UTF-32's mark begins as UTF-16's does.
MARKS = {codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_FIRST = (*MARKS, codecs.BOM_UTF8)
_LETTER = rb"[\t\n\r\x20-\x7e]"
SURE = 32  # letters in a row that show an encoding: by chance once in 10^20 lines of Chinese in UTF-16
_NARROW = re.compile(_LETTER + b"{%d}" % (2 * SURE))
_WIDE = re.compile(b"(?:" + _LETTER + rb"\0){%d}" % SURE)
_WIDE_BEGUN = re.compile(b"(?:" + _LETTER + rb"\0)*" + _LETTER + b"?")
_LETTERS = bytes((*b"\t\n\r", *range(0x20, 0x7F)))


class Narrow:
    """Bytes in, bytes in UTF-8 out; what is no UTF-16 or UTF-32 passes as it is. Byte order marks are left out."""

    def __init__(self) -> None:
        self._begun = False
        self._settled = False  # a NUL byte showed that no UTF-16 will come: binary data, or a hole
        self._wide: codecs.IncrementalDecoder | None = None
        self._width = 0  # bytes that the decoder took, for where a unit begins
        self._held = b""
        self._last = b"\n"  # the byte that passed last

    def feed(self, data: bytes) -> bytes:
        """What `data` completes."""
        data, self._held = self._held + data, b""
        if not self._begun:
            if len(data) < 4 and any(mark.startswith(data) for mark in _FIRST):
                self._held = data
                return b""
            data = self._begin(data)
        return self._on(data)

    def rest(self) -> bytes:
        """What was held back, if the source ends here; it is kept. Too few letters to be sure: a line's end decides."""
        if self._wide is None or b"\n" in self._held:
            return self._held
        return self._held.decode("utf-16-le", "replace").encode() if len(self._held) > 1 else b""

    def _begin(self, data: bytes) -> bytes:
        """Take off the byte order mark."""
        self._begun = True
        mark = next((mark for mark in _FIRST if data.startswith(mark)), b"")
        if mark in MARKS:
            self._decode(MARKS[mark])
        return data[len(mark) :]

    def _decode(self, name: str) -> None:
        self._wide, self._width = codecs.getincrementaldecoder(name)("replace"), 0

    def _on(self, data: bytes) -> bytes:
        if self._wide is not None:
            return self._widely(data, self._wide)
        place = -1 if self._settled else data.find(b"\0")
        if place < 0:
            self._last = data[-1:] or self._last
            return data
        return self._first_nul(data, place)

    def _first_nul(self, data: bytes, place: int) -> bytes:
        """UTF-16 begins with this NUL byte, or ends its first letter with it, which passed; or none is looked for."""
        after = data[place + 1 : place + 1 + 2 * SURE]
        self._last = data[place - 1 : place] or self._last
        if _WIDE.match(after):
            begins = self._last == b"\n"
            self._decode("utf-16-be" if begins else "utf-16-le")
            return data[:place] + self._on(data[place + (not begins) :])
        if len(after) < 2 * SURE and _WIDE_BEGUN.fullmatch(after):
            self._held = data[place:]
            return data[:place]
        self._settled = True
        return data

    def _widely(self, data: bytes, wide: codecs.IncrementalDecoder) -> bytes:
        """Decode up to where letters of one byte each begin; those at the end may be their beginning."""
        found = _NARROW.search(data)
        start = found.start() if found else len(data.rstrip(_LETTERS))
        start = min(start + (self._width + start) % 2, len(data))  # the last unit of UTF-16 may end with a letter
        self._width += start
        text = wide.decode(data[:start], final=bool(found)).encode("utf-8", "replace")
        if not found:
            self._held = data[start:]
            return text
        self._wide, self._settled = None, False
        return text + self._on(data[start:])
