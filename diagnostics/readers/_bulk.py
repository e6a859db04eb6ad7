"""The quick way through a console log: lines whose like was seen are passed over, metric lines are read many at once.

Two lines are alike where they differ in digits only. A line that was met a few times and did nothing but stand there
is passed over from then on; its latest occurrence and the last lines of the log are reported at the end, which is all
that `LinesOfNote` keeps of repeated lines. Metric lines are turned into JSON and go through the decoder that the
slow way teaches. Whatever is not exactly as expected takes the slow way, in its place.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import replace
from typing import Any, Protocol

from klinic.diagnostics.readers._fastjson import Shape
from klinic.diagnostics.readers._pieces import Metrics, Piece, as_json, cut, line_of, not_padded
from klinic.diagnostics.readers._text import Frames, clean, find_bar
from klinic.diagnostics.readers._words import announced
from klinic.diagnostics.run.events import Block, Event, Line
from klinic.diagnostics.run.lines import REPEATED, TAIL
from klinic.diagnostics.run.model import NAN

DIGITS = b"0123456789"
MANY = 16 * 1024  # less text than this is not worth it
FIRST, PIECE = 1 << 15, 1 << 21  # bytes read at once, growing
FEW = 4  # fewer metric lines in a row are not worth it
MAX_ALIKE, MAX_MET, MAX_LENGTH = 4000, 20_000, 2000  # kinds of lines passed over and met, bytes of a line
_ALONE = re.compile(r"step:\d{1,12}(?: - |\s*$| -$)")


class Host(Protocol):
    """The session that reads line by line."""

    def slow(self, raw: bytes, line: int) -> list[Event]:
        """Take one whole line; what it gave."""

    def idle(self) -> bool:
        """Whether no line before this one is waited with."""

    def steady(self) -> bool:
        """Whether a metric line means no more than its numbers."""

    def report(self, block: Block) -> None:
        """Add rows."""


class Bulk:
    """What is known of a log's lines."""

    def __init__(self) -> None:
        self.shape = Shape(null=NAN)
        self._size = FIRST
        self._patterns: set[frozenset[str]] = set()
        self._masks: set[bytes] = set()
        self._masked: tuple[Any, int] = (None, 0)
        self._met: dict[bytes, int] = {}
        self._dull: dict[bytes, bytes] = {}  # line without digits -> what it must hold to count as such
        self._mute: set[bytes] = set()  # those that give no text: bars, blanks
        self._passed: dict[bytes, tuple[int, bytes]] = {}
        self._tail: deque[tuple[int, bytes]] = deque(maxlen=TAIL)
        self._plain: dict[bytes, bool] = {}

    def learn(self, values: dict[str, float]) -> None:
        """A metric line that was read the slow way."""
        self.shape.learn({"data": values})
        self._patterns.add(frozenset(values))

    def feed(self, host: Host, text: bytes, line: int) -> None:
        """Read whole lines, the first of which has number `line`, in pieces: each teaches the next."""
        start = 0
        while start < len(text):
            end = text.rfind(b"\n", start, start + self._size) + 1 or text.find(b"\n", start) + 1
            self._piece(host, text[start:end], line)
            line += text.count(b"\n", start, end)
            start, self._size = end, min(2 * self._size, PIECE)

    def _piece(self, host: Host, text: bytes, first: int) -> None:
        metrics, noise = cut(text)
        piece = Piece(metrics, noise.split(b"\n")[:-1], noise.translate(None, DIGITS).split(b"\n")[:-1], first)
        latest = dict(zip(piece.kinds, range(len(piece.kinds)), strict=True))
        fresh = {kind for kind in latest if kind not in self._dull}
        odd = self._odd(piece, fresh, latest)
        while piece.at < len(piece.lines) or piece.done < len(metrics):
            if host.idle():
                self._known(host, piece, odd)
            if piece.at < len(piece.lines) or piece.done < len(metrics):
                self._one(host, piece)
        self._pass(piece, {*odd, *piece.looked}, fresh, latest)

    def _odd(self, piece: Piece, fresh: set[bytes], latest: dict[bytes, int]) -> list[int]:
        """Places of the lines that are to be looked at: new ones, and bars of another length than before."""
        bound = {kind: word for kind in latest if (word := self._dull.get(kind))}
        if not fresh and not bound:
            return []
        kinds = enumerate(piece.kinds)
        return [at for at, kind in kinds if kind in fresh or (kind in bound and bound[kind] not in piece.lines[at])]

    def _known(self, host: Host, piece: Piece, odd: list[int]) -> None:
        """Go on to the next line that is to be looked at; metric lines before it become rows at once."""
        place = bisect_left(odd, piece.at)
        stop = odd[place] if place < len(odd) else len(piece.lines)
        until = bisect_right(piece.noises, stop)
        piece.done += self._rows(host, piece, until)
        piece.at = stop if piece.done == until else piece.noises[piece.done]

    def _rows(self, host: Host, piece: Piece, until: int) -> int:
        """Read metric lines up to a place; how many were as expected."""
        if until - piece.done < FEW or not self.shape.usable() or not host.steady():
            return 0
        records: list[Any] = []
        for line in piece.metrics[piece.done : until]:
            record = self.shape.decode(as_json(line.body)) if self._usual(line) else None
            if record is None:
                break
            records.append(record)
        block = self.shape.block(records, piece.number_of(piece.done + len(records) - 1)) if records else None
        good = self._sound(block, piece.metrics[piece.done : until]) if block else 0
        good -= good > 0  # the last one goes the slow way: what follows may look back at it
        if block and good:
            host.report(replace(block.head(good), line=piece.number_of(piece.done + good - 1)))
        return good

    def _sound(self, block: Block, lines: list[Metrics]) -> int:
        """How many of the first rows hold a set of keys that was met before, each of them once."""
        if self._masked != (block.names, len(self._patterns)):
            self._masked = block.names, len(self._patterns)
            self._masks = {bytes(name in pattern for name in block.names) for pattern in self._patterns}
        held = block.values == block.values
        for at, place in block.codes:
            held[at, place] = True
        for at, line in enumerate(lines[: len(held)]):
            mask = held[at].tobytes()
            if mask not in self._masks or mask.count(1) != line.body.count(b":"):
                return at
        return len(held)

    def _usual(self, line: Metrics) -> bool:
        """Whether nothing but prefixes stands before the metrics, and they are not all printed with fixed decimals."""
        kind = line.before.translate(None, DIGITS)
        if kind not in self._plain and len(self._plain) < MAX_ALIKE:
            self._plain[kind] = b"\r" not in line.before and not clean(line.before.decode("utf-8", "replace"))[0]
        if not self._plain.get(kind):
            return False
        return not_padded(line.body)

    def _one(self, host: Host, piece: Piece) -> None:
        """Read the next line the slow way."""
        if piece.done < len(piece.metrics) and piece.noises[piece.done] <= piece.at:
            host.slow(piece.metrics[piece.done].raw, piece.number_of(piece.done))
            piece.done += 1
            return
        raw, kind, line = piece.lines[piece.at], piece.kinds[piece.at], piece.number(piece.at)
        piece.looked.add(piece.at)
        piece.at += 1
        idle, met = host.idle(), self._met.get(kind, 0)
        events = host.slow(raw, line)
        if not idle or met < 0 or kind in self._dull or len(raw) > MAX_LENGTH or len(self._met) > MAX_MET:
            return
        word = must_hold(raw) if host.idle() and all(type(event) is Line for event in events) else None
        self._met[kind] = -1 if word is None else met + 1
        if word is not None and met >= REPEATED and len(self._dull) < MAX_ALIKE:
            self._dull[kind] = word
            self._mute |= set() if events else {kind}

    def _pass(self, piece: Piece, looked: set[int], fresh: set[bytes], latest: dict[bytes, int]) -> None:
        """Remember the latest of the lines that were passed over, and the last ones."""
        for kind, at in latest.items():
            if kind not in fresh and kind not in self._mute and at not in looked:
                self._passed[kind] = piece.number(at), piece.lines[at]
        last: list[tuple[int, bytes]] = []
        for at in range(len(piece.lines) - 1, -1, -1):
            if at not in looked and piece.kinds[at] not in self._mute:
                last.append((piece.number(at), piece.lines[at]))
                if len(last) == TAIL:
                    break
        self._tail.extend(reversed(last))

    def passed(self) -> list[Line]:
        """What is to be reported at the end, in order."""
        frames = (
            frame for line, raw in sorted({*self._passed.values(), *self._tail}) for frame in Frames.of(raw, line)
        )
        return [line for frame in frames for line in line_of(frame, find_bar(frame.text))]


def must_hold(raw: bytes) -> bytes | None:
    """What another line must hold to do as little as this one; None where digits decide what a line does."""
    text = raw.decode("utf-8", "replace")
    if _ALONE.search(text) or announced(text):
        return None
    bar = find_bar(clean(text)[0])
    if not bar or not bar.total or not bar.what.endswith("Training Progress"):
        return b""
    word = b"/%d [" % bar.total
    return word if word in raw else None
