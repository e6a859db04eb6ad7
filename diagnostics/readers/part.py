"""One file of a run being read: as it stands now, and further as it grows."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from klinic.diagnostics.files.pipe import opened, standard_input
from klinic.diagnostics.readers.base import Head, Reader, Session
from klinic.diagnostics.readers.records.jsonrows import parse, row_of
from klinic.diagnostics.readers.registry import reader_for
from klinic.diagnostics.readers.sources.bytestream import BLOCK, HEAD, Decoder
from klinic.diagnostics.readers.sources.fileblocks import blocks
from klinic.diagnostics.readers.sources.lookahead import foreseen
from klinic.diagnostics.run.events import Block, Event, Happened, Line, Note, Row


@dataclass(frozen=True)
class Part:
    """One source of a run.

    path: None for stdin. rank: config of a higher rank wins. opens: makes the session; None chooses by content.
    main: the part that gives the run its format; it must be there. rows, text, events: whether these count,
    or another part has the same ones. ahead: read before other parts' newer rows. whole: a small file
    that is rewritten, read anew when it changes. in_turn: its rows follow those of the part before.
    """

    path: Path | None
    rank: int = 0
    opens: Callable[[], Session] | None = None
    main: bool = False
    rows: bool = True
    text: bool = True
    events: bool = True
    ahead: bool = False
    whole: bool = False
    in_turn: bool = False


class StaleError(Exception):
    """What was read of the file does not hold any more: read the run anew."""


class PartReading:
    """Reads one part. live: text after the last line end is left for later."""

    def __init__(self, part: Part, live: bool = False) -> None:
        self.part = part
        self.reader: Reader | None = None
        self.head = b""
        self.size = 0
        self.received = 0
        self._live = live
        self._stream: BinaryIO | None = None
        self._inode: tuple[int, int] | None = None
        self._lines_before = 0
        self._last_line = 0
        self._start()

    def _start(self) -> None:
        self._decoder = Decoder()
        self._session: Session | None = None
        self._tail = b""
        self._head_open = True
        self.head = b""
        self.size = 0
        self.reader = None
        self._lines_before = self._last_line
        if self.part.opens is not None:
            self._session = self.part.opens()

    def pull(self, limit: int | None = None) -> Iterator[Event]:
        """Events of the bytes that came since the last pull, up to `limit` bytes of the file; raises OSError."""
        if self._stream is None and self._inode is not None and self._replaced():
            yield from self._restart()
            return
        if self._stream is None:
            self._open()
        yield from self._pull_stream(self._stream, limit)
        if self._live and self._replaced():
            yield from self._restart()

    def _open(self) -> None:
        if self.part.path is None:
            self._stream = standard_input()
            return
        try:
            self._stream = opened(self.part.path)
        except FileNotFoundError:
            if self._live or not self.part.main or self.part.opens is not None:
                return
            raise
        status = os.fstat(self._stream.fileno())
        self._inode = (status.st_dev, status.st_ino)
        if self.size:
            self._stream.seek(self.size)

    def close(self) -> None:
        """Let go of the file; a later pull goes on where this reading stopped."""
        if self._stream is not None and self.part.path is not None:
            self._stream.close()
        self._stream = None

    def _pull_stream(self, stream: BinaryIO | None, limit: int | None) -> Iterator[Event]:
        if stream is None:
            return
        left = None if limit is None else max(limit - self.size, 0)
        for data in foreseen(self._filled(stream, left), lambda: getattr(self._session, "foresee", None)):
            yield from self._take(data)

    def _filled(self, stream: BinaryIO, limit: int | None) -> Iterator[bytes]:
        """The source in blocks of a useful size; the first one large enough to tell the format."""
        fresh = b""
        for piece in self._decoded(stream, limit):
            fresh += piece
            if len(fresh) < BLOCK or (self._session is None and len(self.head) + len(fresh) < HEAD):
                continue
            yield fresh
            fresh = b""
        if fresh:
            yield fresh

    def _decoded(self, stream: BinaryIO, limit: int | None) -> Iterator[bytes]:
        for block, stands_for in blocks(stream, limit):
            self.size += stands_for
            self.received += stands_for
            yield from self._decoder.pieces(block)

    def _take(self, data: bytes) -> Iterator[Event]:
        if self.part.opens is None and self._head_open:
            data = self._choose(data)
        elif not self.head:
            self.head = data[:HEAD]
        if self._session is not None:
            yield from self._seen(self._session.feed(self._whole_lines(data)))

    def _choose(self, data: bytes) -> bytes:
        """Look at the beginning (again, while it grows); returns the bytes that the session has not seen.

        A log that was cut to nothing under its writer begins with a hole of NUL bytes, which says nothing.
        """
        if not self.head:
            data = data.lstrip(b"\0")
        before, self.head = self.head, (self.head + data)[:HEAD]
        self._head_open = len(self.head) < HEAD
        head = Head(self.head, self.part.path, complete=self._head_open)
        reader = reader_for(head)
        if reader is self.reader:
            return data if reader is not None else b""
        if self.reader is not None:
            raise StaleError
        self.reader = reader
        self._session = reader.open(head) if reader is not None else None
        return before + data

    def _whole_lines(self, data: bytes) -> bytes:
        if not self._live or getattr(self.reader, "binary", False):
            return data
        data, self._tail = self._tail + data, b""
        cut = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        self._tail = data[cut:]
        return data[:cut]

    def _seen(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if type(event) is Row or type(event) is Block:
                self._last_line = max(self._last_line, event.line or 0)
                if self.part.rows:
                    yield event
            elif type(event) is Line:
                yield from self._line(event)
            elif type(event) is not Happened or self.part.events:
                yield event

    def _line(self, line: Line) -> Iterator[Event]:
        if self._lines_before:
            line = replace(line, line=line.line + self._lines_before)
        self._last_line = max(self._last_line, line.line)
        row = _json_row(line) if line.text.lstrip().startswith('{"') else None
        if row is None:
            if self.part.text:
                yield line
        elif self.part.rows:
            yield Note(f"JSON lines with metrics stand in the text (first at line {line.line}); read as rows")
            yield row

    @property
    def format(self) -> str:
        """The reader's name; of a log in an envelope that of what is inside."""
        return getattr(self._session, "format", "") or (self.reader.name if self.reader else "")

    def trouble(self) -> str:
        """What is wrong with the compression of the source if it ends here, in words; empty where nothing is."""
        return self._decoder.at_end()

    def ended(self) -> Iterator[Event]:
        """What would be reported more if the source ended here; the reading can go on afterwards."""
        trouble = self._decoder.at_end()
        if trouble and not (self._live and not self._decoder.trouble):
            yield Note(f"{self.part.path or '-'}: {trouble}")
        if self._session is None:
            return
        last = copy.deepcopy(self._session)
        if rest := self._decoder.rest():
            yield from self._seen(last.feed(rest))
        yield from self._seen(last.close())

    def _replaced(self) -> bool:
        """Whether the path leads to another file by now, or the file became shorter."""
        if self.part.path is None:
            return False
        try:
            status = self.part.path.stat()
        except FileNotFoundError:
            return False
        return (status.st_dev, status.st_ino) != self._inode or status.st_size < self.size

    def _restart(self) -> Iterator[Event]:
        """Go on with the new file; a rewritten copy of what was read makes the whole reading stale."""
        path, head = self.part.path, self.head
        self.close()
        if path is None:
            return
        with path.open("rb") as stream:
            start = Decoder().feed(stream.read(HEAD))
        if self.part.whole or start[: len(head)] == head[: len(start)]:
            raise StaleError
        self._start()
        yield Note(f"{path.name} was replaced by a new file; reading went on with that")
        self._open()
        yield from self._pull_stream(self._stream, None)


def _json_row(line: Line) -> Row | None:
    try:
        record = parse(line.text)
    except ValueError:
        return None
    if not isinstance(record, dict) or "step" not in record:
        return None
    return row_of(record, line.line)
