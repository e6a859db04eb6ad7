"""Bytes of a source: compression seen through, in blocks, as far as they can be read."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

BLOCK = 1 << 21
HEAD = 256 * 1024
SLICE = 16 * 1024
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Decoder:
    """Decompresses gzip and zstd (several members or frames in a row too) as bytes arrive; passes others through.

    A stream that ends early or is damaged gives what came before; `trouble` then says why in words.
    """

    def __init__(self) -> None:
        self.trouble = ""
        self._start = b""
        self._decompress: Any = None
        self._plain = False

    def feed(self, data: bytes) -> bytes:
        """The decompressed bytes that `data` completes."""
        return b"".join(self.pieces(data))

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The same in pieces: a few compressed bytes may hold more than should be in memory at once."""
        if self._decompress is None and not self._plain:
            self._start += data
            if len(self._start) < len(ZSTD) and (ZSTD.startswith(self._start) or GZIP.startswith(self._start)):
                return
            data, self._start = self._start, b""
            self._decompress = _decompressor(data)
            self._plain = self._decompress is None
        if self._plain:
            yield data
        else:
            yield from self._members(data)

    def at_end(self) -> str:
        """What is wrong if the source ends here, in words."""
        if self._decompress is not None and not self._decompress.eof and not self.trouble:
            return "the compressed stream ends early; what came before was read"
        return self.trouble

    def _members(self, data: bytes) -> Iterator[bytes]:
        while data and not self.trouble:
            if self._decompress.eof:
                fresh = _decompressor(data)
                if fresh is None:
                    self.trouble = "bytes after the compressed stream were left out" if data.strip(b"\0") else ""
                    return
                self._decompress = fresh
            piece, data = data[:SLICE], data[SLICE:]
            yield from self._piece(piece)
            data = self._decompress.unused_data + data if self._decompress.eof else data

    def _piece(self, piece: bytes) -> Iterator[bytes]:
        """Decompress a little; where it is damaged, byte by byte up to the damage."""
        before = self._decompress.copy() if hasattr(self._decompress, "copy") else None
        try:
            yield self._decompress.decompress(piece)
        except Exception as error:  # zlib.error, zstandard.ZstdError: the library's own, imported on use only
            self.trouble = f"the compressed stream is damaged ({error}); what came before was read"
            if before is not None:
                yield from _up_to_damage(before, piece)


def _up_to_damage(decompress: Any, piece: bytes) -> Iterator[bytes]:
    for at in range(len(piece)):
        try:
            yield decompress.decompress(piece[at : at + 1])
        except zlib.error:
            return


def _decompressor(data: bytes) -> Any:
    if data.startswith(GZIP):
        return zlib.decompressobj(wbits=31)
    if data.startswith(ZSTD):
        import zstandard

        return zstandard.ZstdDecompressor().decompressobj()
    return None


def blocks(stream: BinaryIO, limit: int | None = None) -> Iterator[bytes]:
    """Blocks of a stream up to its end, or up to `limit` bytes."""
    left = limit
    while left is None or left > 0:
        piece = stream.read(BLOCK if left is None else min(BLOCK, left))
        if not piece:
            return
        yield piece
        left = None if left is None else left - len(piece)


def standard_input() -> BinaryIO:
    """stdin as bytes."""
    return sys.stdin.buffer


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

    def rest(self) -> bytes:
        """What stands after the last line end; it is forgotten."""
        rest, self._pieces = b"".join(self._pieces), []
        return rest
