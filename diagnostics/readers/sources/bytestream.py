"""Bytes of a source: compression seen through, in blocks, as far as they can be read."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.readers.sources.utf16 import Narrow

BLOCK = 1 << 22
HEAD = 256 * 1024
GZIP, ZSTD, BZIP2, XZ = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\0"
MAGICS = (GZIP, ZSTD, BZIP2, XZ)
SLICE, ZSTD_SLICE = 16 * 1024, 1024  # compressed bytes unpacked at once; zstd makes up to 32 MiB of its slice
MOST = 4 * 1024 * 1024  # bytes that the others give at once
# (bytes unpacked, times the compressed ones) from which on a stream is a bomb: without a line end, and altogether.
ENDLESS, BOMB = (32 * 2**20, 100), (32 * 2**20, 500)


class Decoder:
    """Decompresses gzip, zstd, bzip2 and xz (several members or frames in a row too) as bytes arrive; passes others.

    Text in UTF-16, as Excel and PowerShell write it, comes out in UTF-8.

    A stream that ends early, is damaged or unpacks beyond all measure gives what came before; `trouble` then says why
    in words.
    """

    def __init__(self) -> None:
        self.trouble = ""
        self._start = b""
        self._decompress: Any = None
        self._plain = self._zstd = False
        self._narrow = Narrow()
        self._taken = self._given = self._endless = 0

    def feed(self, data: bytes) -> bytes:
        """The decompressed bytes that `data` completes."""
        return b"".join(self.pieces(data))

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The same in pieces: a few compressed bytes may hold more than should be in memory at once."""
        for piece in self._unpacked(data):
            yield self._narrow.feed(piece)

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        if self._decompress is None and not self._plain:
            self._start += data
            if any(len(self._start) < len(magic) and magic.startswith(self._start) for magic in MAGICS):
                return
            data, self._start = self._start, b""
            self._begin(data)
            self._plain = self._decompress is None
        if self._plain:
            yield data
        else:
            yield from self._members(data)

    def rest(self) -> bytes:
        """What is held back because it cannot be told yet, if the source ends here; it is kept."""
        return self._narrow.rest()

    def at_end(self) -> str:
        """What is wrong if the source ends here, in words."""
        if self._decompress is not None and not self._decompress.eof and not self.trouble:
            return "the compressed stream ends early; what came before was read"
        return self.trouble

    def _begin(self, data: bytes) -> None:
        magic = next((magic for magic in MAGICS if data.startswith(magic)), b"")
        self._decompress, self._zstd = _decompressor(magic), magic == ZSTD

    def _members(self, data: bytes) -> Iterator[bytes]:
        while data and not self.trouble:
            if self._decompress.eof:
                before = self._decompress
                self._begin(data)
                if self._decompress is None:
                    self._decompress = before
                    self.trouble = "bytes after the compressed stream were left out" if data.strip(b"\0") else ""
                    return
            size = ZSTD_SLICE if self._zstd else SLICE
            piece, data = data[:size], data[size:]
            self._taken += len(piece)
            for given in self._piece(piece):
                yield given
                if self._is_bomb(given):
                    return
            data = self._decompress.unused_data + data if self._decompress.eof else data

    def _piece(self, piece: bytes) -> Iterator[bytes]:
        """Decompress a little; where it is damaged, byte by byte up to the damage."""
        before = self._decompress.copy() if hasattr(self._decompress, "copy") else None
        count = 0
        try:
            for given in self._unpack(piece):
                count += len(given)
                yield given
        except Exception as error:  # each library raises errors of its own, imported on use only
            self.trouble = f"the compressed stream is damaged ({error}); what came before was read"
            if before is not None:
                yield b"".join(_up_to_damage(before, piece))[count:]

    def _unpack(self, piece: bytes) -> Iterator[bytes]:
        """What a piece holds, at most `MOST` bytes at once where the library can."""
        unpack = self._decompress
        if self._zstd:
            yield unpack.decompress(piece)
            return
        yield unpack.decompress(piece, MOST)
        while rest := getattr(unpack, "unconsumed_tail", b""):
            yield unpack.decompress(rest, MOST)
        while not (unpack.eof or getattr(unpack, "needs_input", True)):
            yield unpack.decompress(b"", MOST)

    def _is_bomb(self, given: bytes) -> bool:
        """Whether a few bytes unpack to more than a log can be: nobody wrote so much of so little."""
        self._given += len(given)
        end = given.rfind(b"\n")
        self._endless = self._endless + len(given) if end < 0 else len(given) - end
        for size, (most, times) in ((self._endless, ENDLESS), (self._given, BOMB)):
            if size > most and self._given > times * self._taken:
                self.trouble = (
                    f"the compressed stream unpacks to over {times} times its size; reading stopped after "
                    f"{self._given >> 20} MiB, what came before was read; unpack it first if it is meant so"
                )
                return True
        return False


def _up_to_damage(decompress: Any, piece: bytes) -> Iterator[bytes]:
    for at in range(len(piece)):
        try:
            yield decompress.decompress(piece[at : at + 1])
        except zlib.error:
            return


def _decompressor(magic: bytes) -> Any:
    if magic == GZIP:
        return zlib.decompressobj(wbits=31)
    if magic == BZIP2:
        return bz2.BZ2Decompressor()
    if magic == XZ:
        return lzma.LZMADecompressor()
    if magic == ZSTD:
        import zstandard

        return zstandard.ZstdDecompressor().decompressobj()
    return None


class LineSplitter:
    """Cuts bytes into lines as they arrive; time linear in the bytes, also for a line of many pieces."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their line ends."""
        if b"\n" not in data:
            self._pieces.append(data)
            return []
        lines = data.split(b"\n")
        lines[0] = b"".join([*self._pieces, lines[0]])
        self._pieces = [lines.pop()]
        return lines

    def whole(self, data: bytes) -> bytes:
        """The same lines as one text, with their line ends."""
        end = data.rfind(b"\n") + 1
        if not end:
            self._pieces.append(data)
            return b""
        lines = b"".join([*self._pieces, data[:end]])
        self._pieces = [data[end:]] if end < len(data) else []
        return lines

    def rest(self) -> bytes:
        """What stands after the last line end; it is forgotten."""
        rest, self._pieces = b"".join(self._pieces), []
        return rest
