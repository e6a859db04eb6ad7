"""A stretch of a console log as the compiled part sorts and reads it; the same as `Piece`, several times faster."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from klinic.diagnostics.readers._known import Known
from klinic.diagnostics.readers._pieces import DIGITS, Metrics
from klinic.diagnostics.run.events import Block

OTHER, METRIC = -1, -2  # sorts of lines that are no kind's place
FEW, ENOUGH = 64, 1 << 19  # fewer rows, fewer bytes are not worth a second thread
MAX_THREADS = 4
MAX_DRAWING = 600  # bytes
_DRAWING = re.compile(rb"(?: |\xe2\x96[\x88-\x8f])*(?=\|)")


class NativePiece:
    """Whole lines being read; see `Piece` for what its attributes and methods mean.

    native: the compiled module. text: below 2 GiB.
    """

    def __init__(self, native: Any, text: bytes, first: int, dull: Mapping[bytes, bytes]) -> None:
        self._native, self._text = native, text
        self._starts, every, self._metrics = _sorted(native, text, dull)
        self._sorts = every[every != METRIC]
        self.first, self.count, self.total = first, len(self._sorts), len(self._metrics)
        self.noises: list[int] = (self._metrics[:, 3] - np.arange(self.total)).tolist()
        self.at = self.done = 0
        self.looked: set[int] = set()
        self._kinds = list(dull)
        self.odd: list[int] = np.flatnonzero(self._sorts == OTHER).tolist()

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

    def latest(self) -> Iterator[tuple[bytes, int]]:
        """Kinds that were known before this piece and stand in it, each with its last place."""
        last = np.full(len(self._kinds), -1)
        places = np.flatnonzero(self._sorts >= 0)
        np.maximum.at(last, self._sorts[places], places)
        return ((self._kinds[kind], int(at)) for kind, at in enumerate(last) if at >= 0)

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
        words = _Words(known)
        if not words.names:
            return None
        found = Found(until - self.done, len(words.names))
        cuts = _parts(self.done, until, FEW)
        count, odd = 0, False
        for (start, end), (good, some) in zip(
            cuts, _each(lambda cut: self._read(words, found, *cut), cuts), strict=True
        ):
            count, odd = count + good, odd or some
            if good < end - start:
                break
        known.shape.count(count)
        return found.block(words.names, count, odd, self.number_of(self.done + count - 1)) if count else None

    def _read(self, words: _Words, found: Found, start: int, end: int) -> tuple[int, bool]:
        at = start - self.done
        room = found.steps[at:], found.values[at:], found.marks[at:]
        count, odd = self._native.rows(self._text, self._metrics, start, end, *words.tables, *room)
        return int(count), bool(odd)


class _Words:
    """What a metric line may hold, as the compiled part wants it."""

    def __init__(self, known: Known) -> None:
        self.names = known.shape.known()
        names = "".join(name + "\n" for name in self.names).encode("utf-8", "surrogatepass")
        self.tables = names, b"".join(known.masks), _listed(known.plain())


class Found:
    """Room for rows."""

    def __init__(self, rows: int, width: int) -> None:
        self.steps = np.empty(rows, np.int64)
        self.values = np.empty((rows, width))
        self.marks = np.empty((rows, width), np.uint8)

    def block(self, names: tuple[str, ...], count: int, odd: bool, line: int) -> Block:
        """The first rows. odd: some values are not finite."""
        marks = self.marks[:count]
        places = zip(*(axis.tolist() for axis in np.nonzero(marks > 1)), strict=True) if odd else ()
        codes = {(at, place): int(marks[at, place]) - 1 for at, place in places}
        return Block(names, self.steps[:count], self.values[:count], None, codes, line)


def undrawn(raw: bytes) -> bytes:
    """A line without the drawing of its first progress bar, which is no part of what the line says."""
    place = raw.find(b"%|")
    found = _DRAWING.match(raw, place + 2) if place > 0 and raw[place - 1 : place].isdigit() else None
    return raw[: found.start()] + raw[found.end() :] if found and len(found[0]) <= MAX_DRAWING else raw


def _sorted(native: Any, text: bytes, dull: Mapping[bytes, bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts and sorts of all lines, and where the metric lines stand, as `lines` of the module has them."""
    kinds, words, view = _listed(dull), _listed(dull.values()), memoryview(text)
    parts = [(_line_at(text, start), _line_at(text, end)) for start, end in _parts(0, len(text), ENOUGH)]
    starts, sorts, metrics, count = [], [], [], 0
    found = _each(lambda part: native.lines(view[slice(*part)], kinds, words), parts)
    for (start, _), arrays in zip(parts, found, strict=True):
        own, sort, spans = (np.frombuffer(array, np.int32) for array in arrays)
        starts.append(own + np.int32(start))
        sorts.append(sort)
        metrics.append(spans.reshape(-1, 4) + np.array([start, start, start, count], np.int32))
        count += len(own)
    return np.concatenate(starts), np.concatenate(sorts), np.concatenate(metrics)


def _line_at(text: bytes, place: int) -> int:
    """Where the line begins in which a place stands."""
    return text.rfind(b"\n", 0, place) + 1 if place < len(text) else place


def _listed(words: Iterable[bytes]) -> bytes:
    return b"".join(word + b"\n" for word in words)


def _parts(start: int, end: int, few: int) -> list[tuple[int, int]]:
    """The range parted for as many threads as pay: fewer than `few` are not worth a second one."""
    count = max(1, min((end - start) // few, _cores()))
    bounds = [start + (end - start) * part // count for part in range(count + 1)]
    return list(pairwise(bounds))


def _each(function: Any, parts: list[Any]) -> list[Any]:
    return list(_pool().map(function, parts)) if len(parts) > 1 else [function(parts[0])]


@cache
def _cores() -> int:
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, MAX_THREADS)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="klinic-native")
