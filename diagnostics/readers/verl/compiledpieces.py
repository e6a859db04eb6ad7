"""A stretch of a console log as the compiled part sorts and reads it; the same as `Piece`, several times faster."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping
from typing import Any

import numpy as np

from klinic.diagnostics.readers.fast.threads import each, parted
from klinic.diagnostics.readers.verl.knownkeys import Known, Tables, listed
from klinic.diagnostics.readers.verl.pieces import DIGITS, Metrics
from klinic.diagnostics.run.events import Block

OTHER, METRIC = -1, -2  # sorts of lines that are no kind's place
FEW, ENOUGH = 64, 1 << 19  # fewer rows, fewer bytes are not worth a second thread
MAX_DRAWING, MAX_LINE = 600, 4096  # bytes; MAX_LINE as in lines.c
_DRAWING = re.compile(rb"(?: |\xe2\x96[\x88-\x8f])*(?=\|)")


class Dull:
    """Kinds of lines that are passed over, as the compiled part wants them; made anew whenever there are more."""

    def __init__(self, dull: Mapping[bytes, bytes]) -> None:
        self.kinds = list(dull)
        self.listed = listed(dull), listed(dull.values())


class NativePiece:
    """Whole lines being read; see `Piece` for what its attributes and methods mean.

    native: the compiled module. text: below 2 GiB. threads: whether others than this one may help.
    """

    first = 1

    def __init__(self, native: Any, text: bytes, dull: Dull, *, threads: bool = True) -> None:
        self._native, self._text, self._kinds = native, text, dull.kinds
        parts = parted(0, len(text), ENOUGH if threads else len(text) + 1)
        self._starts, every, self._metrics = _sorted(native, text, dull, parts)
        self._sorts = every[every != METRIC]
        self.count, self.total = len(self._sorts), len(self._metrics)
        self.noises: list[int] = (self._metrics[:, 3] - np.arange(self.total)).tolist()
        self.at = self.done = 0
        self.looked: set[int] = set()
        self.odd: list[int] = np.flatnonzero(self._sorts == OTHER).tolist()
        self._ahead: Rows | None = None

    def read_ahead(self, tables: Tables) -> None:
        """Read all metric lines, as long as they are as expected, by this thread alone."""
        if self.total and tables.names:
            self._ahead = Rows(self._native, self._text, self._metrics, (0, self.total), tables, threads=False)

    def learn(self, dull: Mapping[bytes, bytes]) -> None:
        """More kinds are passed over by now than were when the lines were sorted: they are looked for among the odd."""
        if len(dull) == len(self._kinds):
            return
        self._kinds = list(dull)
        place_of = {kind: place for place, kind in enumerate(self._kinds)}
        for at in self.odd:
            raw, kind = self.raw(at), self.kind(at)
            if kind in dull and dull[kind] in raw and len(raw) <= MAX_LINE:
                self._sorts[at] = place_of[kind]
        self.odd = np.flatnonzero(self._sorts == OTHER).tolist()

    def raw(self, at: int) -> bytes:
        """A line without metrics."""
        line = at + bisect_right(self.noises, at)
        end = int(self._starts[line + 1]) if line + 1 < len(self._starts) else len(self._text)
        return self._text[int(self._starts[line]) : end - 1]

    def kind(self, at: int) -> bytes:
        """The same without its digits and the drawing of its first progress bar."""
        return undrawn(self.raw(at)).translate(None, DIGITS)

    def metrics(self, done: int) -> Metrics:
        """A line that looks like a metric line."""
        start, body, end, _ = self._metrics[done].tolist()
        return Metrics(self._text[start : body - 5], self._text[body:end], self.noises[done])

    def number(self, at: int) -> int:
        """Number in the log of a line without metrics."""
        return self.first + at + bisect_right(self.noises, at)

    def number_of(self, done: int) -> int:
        """Number in the log of a metric line."""
        return self.first + self.noises[done] + done

    def places(self, kinds: Mapping[bytes, int]) -> np.ndarray:
        """Places of the lines of these kinds that are passed over, in order. kinds: with their places among all."""
        wanted = np.zeros(len(self._kinds) + 1, bool)  # the last element is for lines of no kind, whose sort is -1
        wanted[[place for place in kinds.values() if place < len(self._kinds)]] = True
        return np.flatnonzero(wanted[self._sorts])

    def latest(self) -> Iterator[tuple[bytes, int]]:
        """Kinds that were known before this piece and stand in it, each with its last place."""
        last = np.full(len(self._kinds), -1)
        places = np.flatnonzero(self._sorts >= 0)
        last[self._sorts[places]] = places  # of equal ones the last is written last
        return ((self._kinds[kind], int(last[kind])) for kind in np.flatnonzero(last >= 0))

    def backwards(self, mute: Container[bytes]) -> Iterator[int]:
        """Places of the lines that are of no mute kind, the last one first."""
        spoken = [kind not in mute for kind in self._kinds]
        for at in range(self.count - 1, -1, -1):
            sort = int(self._sorts[at])
            if spoken[sort] if sort >= 0 else self.kind(at) not in mute:
                yield at

    def rows(self, known: Known, until: int) -> Block | None:
        """The metric lines from the next one on that are as expected, up to a place."""
        known.is_plain(self.metrics(self.done).before)
        tables, ahead = known.tables, self._ahead
        if not tables.names:
            return None
        if ahead is None or ahead.tables is not tables or not ahead.first <= self.done < ahead.end:
            ahead = Rows(self._native, self._text, self._metrics, (self.done, until), tables)
        count = min(until, ahead.end) - self.done
        known.shape.count(count)
        return ahead.block(self.done, count, self.number_of(self.done + count - 1)) if count else None


class Rows:
    """Metric lines [first, end) of a piece as numbers: from the first of `span` on, as far as they are as expected."""

    def __init__(
        self,
        native: Any,
        text: bytes,
        metrics: np.ndarray,
        span: tuple[int, int],
        tables: Tables,
        *,
        threads: bool = True,
    ) -> None:
        self.first, self.tables = span[0], tables
        rows, width = span[1] - span[0], len(tables.names)
        self._steps, self._values = np.empty(rows, np.int64), np.empty((rows, width))
        self._marks = np.empty((rows, width), np.uint8)

        def read(part: tuple[int, int]) -> tuple[int, bool]:
            room = [array[part[0] - span[0] :] for array in (self._steps, self._values, self._marks)]
            count, odd = native.rows(text, metrics, *part, *tables.listed, *room)
            return int(count), bool(odd)

        parts = parted(*span, FEW if threads else rows + 1)
        self.end, self._odd = self.first, False
        for (start, end), (good, odd) in zip(parts, each(read, parts), strict=True):
            self.end, self._odd = start + good, self._odd or odd
            if self.end < end:
                break

    def block(self, start: int, count: int, line: int) -> Block:
        """Some of them, as an event; line: number of the last one."""
        span = slice(start - self.first, start - self.first + count)
        marks = self._marks[span]
        places = zip(*(axis.tolist() for axis in np.nonzero(marks > 1)), strict=True) if self._odd else ()
        codes = {(at, place): int(marks[at, place]) - 1 for at, place in places}
        return Block(self.tables.names, self._steps[span], self._values[span], None, codes, line)


def undrawn(raw: bytes) -> bytes:
    """A line without the drawing of its first progress bar, which is no part of what the line says."""
    place = raw.find(b"%|")
    found = _DRAWING.match(raw, place + 2) if place > 0 and raw[place - 1 : place].isdigit() else None
    return raw[: found.start()] + raw[found.end() :] if found and len(found[0]) <= MAX_DRAWING else raw


def _sorted(
    native: Any, text: bytes, dull: Dull, parts: list[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts and sorts of all lines, and where the metric lines stand, as `lines` of the module has them."""
    view = memoryview(text)
    lines = [(_line_at(text, start), _line_at(text, end)) for start, end in parts]
    starts, sorts, metrics, count = [], [], [], 0
    found = each(lambda part: native.lines(view[slice(*part)], *dull.listed), lines)
    for (start, _), arrays in zip(lines, found, strict=True):
        own, sort, spans = (np.frombuffer(array, np.int32) for array in arrays)
        starts.append(own + np.int32(start))
        sorts.append(sort)
        metrics.append(spans.reshape(-1, 4) + np.array([start, start, start, count], np.int32))
        count += len(own)
    return np.concatenate(starts), np.concatenate(sorts), np.concatenate(metrics)


def _line_at(text: bytes, place: int) -> int:
    """Where the line begins in which a place stands."""
    return text.rfind(b"\n", 0, place) + 1 if place < len(text) else place
