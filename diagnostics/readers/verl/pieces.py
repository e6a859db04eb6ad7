"""A stretch of a console log cut into metric lines and others, and what a metric line looks like."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from klinic.diagnostics.readers.text.frames import Bar, Frame
from klinic.diagnostics.readers.verl.knownkeys import Known
from klinic.diagnostics.run.events import Block, Line

DIGITS = b"0123456789"
WINDOW = 600  # bytes of a metric line that are looked at
_STEP = re.compile(rb"step:(\d{1,12}) - ")
_DECIMALS = re.compile(rb":-?\d+\.(\d+)(?: - |$)")


@dataclass(frozen=True, slots=True)
class Metrics:
    """A line that looks like a metric line: what stands before and after `step:`, and how many lines are before it."""

    before: bytes
    body: bytes
    noise: int

    @property
    def raw(self) -> bytes:
        """The whole line."""
        return self.before + b"step:" + self.body


def cut(text: bytes) -> tuple[list[Metrics], bytes]:
    """Whole lines parted: those that look like metric lines, and all others as they stood."""
    found: list[Metrics] = []
    rest: list[bytes] = []
    at = done = noise = 0
    while (at := text.find(b"step:", at)) >= 0:
        if not _STEP.match(text, at):
            at += 5
            continue
        start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
        rest.append(text[done:start])
        noise += text.count(b"\n", done, start)
        found.append(Metrics(text[start:at], text[at + 5 : end], noise))
        at = done = end + 1
    rest.append(text[done:])
    return found, b"".join(rest)


class Piece:
    """Whole lines being read in pure Python; `at` lines without metrics and `done` metric lines of them are read.

    first: number of the first line in the log. dull: kinds of lines that are passed over.
    """

    def __init__(self, text: bytes, first: int, dull: Mapping[bytes, bytes]) -> None:
        self._metrics, noise = cut(text)
        self._lines = noise.split(b"\n")[:-1]
        self._kinds = noise.translate(None, DIGITS).split(b"\n")[:-1]
        self._latest = dict(zip(self._kinds, range(len(self._kinds)), strict=True))
        self._fresh = {kind for kind in self._latest if kind not in dull}
        self.first, self.count, self.total = first, len(self._lines), len(self._metrics)
        self.noises = [line.noise for line in self._metrics]
        self.at = self.done = 0
        self.looked: set[int] = set()
        self.odd = self._odd(dull)

    def _odd(self, dull: Mapping[bytes, bytes]) -> list[int]:
        """Places of the lines that are to be looked at: new ones, and bars of another length than before."""
        bound = {kind: word for kind in self._latest if (word := dull.get(kind))}
        if not self._fresh and not bound:
            return []
        kinds, fresh, lines = enumerate(self._kinds), self._fresh, self._lines
        return [at for at, kind in kinds if kind in fresh or (kind in bound and bound[kind] not in lines[at])]

    def raw(self, at: int) -> bytes:
        """A line without metrics."""
        return self._lines[at]

    def kind(self, at: int) -> bytes:
        """The same without its digits."""
        return self._kinds[at]

    def metrics(self, done: int) -> Metrics:
        """A line that looks like a metric line."""
        return self._metrics[done]

    def number(self, at: int) -> int:
        """Number in the log of a line without metrics."""
        return self.first + at + bisect_right(self.noises, at)

    def number_of(self, done: int) -> int:
        """Number in the log of a metric line."""
        return self.first + int(self.noises[done]) + done

    def places(self, kinds: Container[bytes]) -> np.ndarray:
        """Places of the lines of these kinds that are passed over, in order."""
        odd = set(self.odd)
        return np.array([at for at, kind in enumerate(self._kinds) if kind in kinds and at not in odd], np.int64)

    def latest(self) -> Iterator[tuple[bytes, int]]:
        """Kinds that were known before this piece and stand in it, each with its last place."""
        return ((kind, at) for kind, at in self._latest.items() if kind not in self._fresh)

    def backwards(self, mute: Container[bytes]) -> Iterator[int]:
        """Places of the lines that are of no mute kind, the last one first."""
        return (at for at in range(self.count - 1, -1, -1) if self._kinds[at] not in mute)

    def rows(self, known: Known, until: int) -> Block | None:
        """The metric lines from the next one on that are as expected, up to a place."""
        records: list[Any] = []
        for line in self._metrics[self.done : until]:
            usual = known.is_plain(line.before) and not_padded(line.body)
            record = known.shape.decode(as_json(line.body)) if usual else None
            if record is None:
                break
            records.append(record)
        last = self.done + len(records) - 1
        block = known.shape.block(records, self.number_of(last)) if records else None
        return block.head(self._sound(block, known)) if block else None

    def _sound(self, block: Block, known: Known) -> int:
        """How many of the first rows hold a set of keys that was met before, each of them once."""
        held = block.values == block.values
        for at, place in block.codes:
            held[at, place] = True
        for at, line in enumerate(self._metrics[self.done : self.done + len(held)]):
            mask = held[at].tobytes()
            if mask not in known.tables.masks or mask.count(1) != line.body.count(b":"):
                return at
        return len(held)


def as_json(body: bytes) -> bytes:
    """`12 - a/b:0.5 - c:np.float64(nan)` as a JSON line of the file logger; no JSON where it is anything else."""
    if wrapped := body.count(b"np.float"):
        if body.count(b")") != wrapped:
            return b""
        body = body.replace(b"np.float64(", b"").replace(b"np.float32(", b"")
        body = (body + b" - ").replace(b") - ", b" - ")[:-3]
    if b":nan" in body:
        body = (body + b" - ").replace(b":nan - ", b":null - ")[:-3]
    return b'{"step":' + body.replace(b":", b'":').replace(b" - ", b',"data":{"', 1).replace(b" - ", b',"') + b"}}"


def not_padded(body: bytes) -> bool:
    """Whether it is sure that not all values but the last are printed with the same number of decimals, padded."""
    end = body.rfind(b" - ")
    start = body[: min(end, WINDOW)]
    if b"np." in start or b"e-" in start:
        return True
    decimals = _DECIMALS.findall(start)
    unpadded = end <= WINDOW and not any(digits.endswith(b"0") for digits in decimals)
    return unpadded or len(set(map(len, decimals))) > 1


def line_of(frame: Frame, bar: Bar | None) -> list[Line]:
    """The text of a frame without its progress bar, where there is any."""
    text = bar.rest if bar else frame.text
    return [Line(text, frame.line, frame.source)] if text.strip() else []
