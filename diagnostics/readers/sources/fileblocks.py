"""The bytes of a file in blocks that end with a line, read ahead; holes of sparse files passed over."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

from klinic.diagnostics.readers.sources.bytestream import BLOCK

LOOK_AHEAD, LARGE = 1 << 16, 1 << 24
FileBlock = tuple[bytes, int]  # a block, and how many bytes of the source it stands for


def blocks(stream: BinaryIO, limit: int | None = None) -> Iterator[FileBlock]:
    """Blocks of a stream up to its end, or up to `limit` bytes; those of a file end with a line where they can.

    What a text reader is given then is whole lines, which need not be copied to be put together. A large file is read
    ahead by a block. Of what nobody ever wrote into a sparse file a few MiB stand for all of it.
    """
    found = _blocks(stream, limit)
    return _ahead(found) if limit and limit >= LARGE and isinstance(stream, io.BufferedReader) else found


def _ahead(found: Iterator[FileBlock]) -> Iterator[FileBlock]:
    """The same blocks, each of them read while the one before is worked on."""
    with ThreadPoolExecutor(1, thread_name_prefix="klinic-read") as pool:
        coming = pool.submit(next, found, None)
        while block := coming.result():
            coming = pool.submit(next, found, None)
            yield block


def _blocks(stream: BinaryIO, limit: int | None) -> Iterator[FileBlock]:
    left = limit
    while left is None or left > 0:
        size = BLOCK + _to_line_end(stream)
        piece = stream.read(size if left is None else min(size, left))
        if not piece:
            return
        left = None if left is None else left - len(piece)
        past = _past_hole(stream, left) if not piece.strip(b"\0") else 0
        yield piece, len(piece) + past
        left = None if left is None else left - past


def _past_hole(stream: BinaryIO, left: int | None) -> int:
    """Go to where a sparse file has data again, by whole BLOCKs (some formats count from the start); by how much."""
    if not isinstance(stream, io.BufferedReader) or not stream.seekable() or not hasattr(os, "SEEK_DATA"):
        return 0
    here, end = stream.tell(), os.fstat(stream.fileno()).st_size
    try:
        data = stream.seek(here, os.SEEK_DATA)
    except OSError:  # nothing comes any more
        data = end
    most = (min(data, end) if left is None else min(data, end, here + left)) - here
    past = max(0, most) // BLOCK * BLOCK
    stream.seek(here + past)
    return past


def _to_line_end(stream: BinaryIO) -> int:
    """How many bytes of a file stand between the end of its next block and the end of the line there; 0 if many."""
    if not isinstance(stream, io.BufferedReader) or not stream.seekable() or not hasattr(os, "pread"):
        return 0
    return os.pread(stream.fileno(), LOOK_AHEAD, stream.tell() + BLOCK).find(b"\n") + 1
