"""The quick way through a console log: lines whose like was seen are passed over, metric lines are read many at once.

Two lines are alike where they differ in digits only; to the compiled part, also where they differ in the drawing of a
progress bar. A line that was met a few times and did nothing but stand there is passed over from then on; its latest
occurrence and the last lines of the log are reported at the end, which is all that `LinesOfNote` keeps of repeated
lines. Metric lines are read many at once, by what the slow way has taught: as JSON (`pieces`), or by the compiled
part where it is installed (`compiledpieces`). Whatever is not exactly as expected takes the slow way, in its place.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from klinic.diagnostics.readers.fast import extension
from klinic.diagnostics.readers.text.frames import Frames, clean, find_bar
from klinic.diagnostics.readers.verl.announcements import announced
from klinic.diagnostics.readers.verl.bulkanswers import Quoted
from klinic.diagnostics.readers.verl.heldrows import Lines
from klinic.diagnostics.readers.verl.knownkeys import Known
from klinic.diagnostics.readers.verl.pieces import Piece, line_of
from klinic.diagnostics.readers.verl.readahead import ReadAhead
from klinic.diagnostics.run.events import Block, Event, Line
from klinic.diagnostics.run.lines import REPEATED, TAIL

if TYPE_CHECKING:
    from klinic.diagnostics.readers.verl.compiledpieces import NativePiece

MANY = 16 * 1024  # less text than this is not worth it
FIRST, PIECE = 1 << 15, 1 << 22  # bytes read at once, growing
FEW = 4  # fewer metric lines in a row are not worth it
MAX_ALIKE, MAX_MET, MAX_LENGTH = 4000, 20_000, 2000  # kinds of lines passed over and met, bytes of a line
_ALONE = re.compile(r"step:\d{1,12}(?: - |\s*$| -$)")


class Host(Protocol):
    """The session that reads line by line."""

    def slow(self, raw: bytes, line: int) -> list[Event]:
        """Take one whole line; what it gave."""

    def idle(self) -> bool:
        """Whether no line before this one is waited with."""

    def quotes(self) -> bool | None:
        """Whether an answer of the model is waited with, None where none would be."""

    def steady(self) -> bool:
        """Whether a metric line means no more than its numbers."""

    def report(self, block: Block, lines: Lines) -> None:
        """Add rows; `lines` are those of the last ones."""

    def settle(self, *, complete: bool) -> None:
        """A line comes that may look back at the last row that was reported, unless text in between completed it."""


class Bulk:
    """What is known of a log's lines."""

    def __init__(self) -> None:
        self._known = Known()
        self._size = FIRST
        self.text_since = False  # a line with text was passed over since the last metric line
        self._met: dict[bytes, int] = {}
        self._dull: dict[bytes, bytes] = {}  # line without digits (and drawing) -> what it must hold to count as such
        self._mute: set[bytes] = set()  # those that give no text: bars, blanks
        self._passed: dict[bytes, tuple[int, bytes]] = {}
        self._tail: deque[tuple[int, bytes]] = deque(maxlen=TAIL)
        self._last: Passed | None = None
        self._ahead, self._quoted = ReadAhead(), Quoted()
        self._together: list[tuple[bytes, bytes, int]] = []  # lines of an answer so far: kind, the line, its number

    def learn(self, values: dict[str, float]) -> None:
        """A metric line that was read the slow way."""
        self._known.learn(values)

    def feed(self, host: Host, text: bytes, line: int) -> int:
        """Read whole lines, the first of which has number `line`, in pieces: each teaches the next.

        Returns the number of the line after them.
        """
        start = 0
        while start < len(text):
            small = len(text) - start < 2 * self._size  # no crumb is left over: few lines are not worth the quick way
            end = len(text) if small else text.rfind(b"\n", start, start + self._size) + 1
            end = end or text.find(b"\n", start) + 1
            piece = self._piece(text[start:end], line)
            self._take(host, piece)
            line += piece.count + piece.total
            start, self._size = end, min(2 * self._size, PIECE)
        return line

    def _piece(self, text: bytes, first: int) -> Piece | NativePiece:
        native = extension.module()
        if native is None:
            return Piece(text, first, self._dull)
        piece = self._ahead.piece(native, text, self._dull)
        piece.first = first
        return piece

    def foresee(self, text: bytes) -> None:
        """Such a text comes soon: threads may begin with it, where it will be read in one piece."""
        native = extension.module()
        if native is not None and self._size == PIECE and len(text) < 2 * PIECE:
            self._ahead.begin(native, text, self._dull, self._known)

    def _take(self, host: Host, piece: Piece | NativePiece) -> None:
        if host.quotes() is not None and (unclosed := self._quoted.unclosed(piece)):
            piece.odd = sorted({*piece.odd, *unclosed})
        while piece.at < piece.count or piece.done < piece.total:
            if host.idle():
                self._go_on(host, piece)
            if piece.at < piece.count or piece.done < piece.total:
                self._one(host, piece)
        self._pass(piece, {*piece.odd, *piece.looked})

    def _go_on(self, host: Host, piece: Piece | NativePiece) -> None:
        """Go on to the next line that is to be looked at; metric lines before it become rows at once."""
        start, place = piece.at, bisect_left(piece.odd, piece.at)
        stop = piece.odd[place] if place < len(piece.odd) else piece.count
        until = bisect_right(piece.noises, stop)
        piece.done += self._rows(host, piece, until)
        piece.at = stop if piece.done == until else piece.noises[piece.done]
        after = max(start, piece.noises[piece.done - 1]) if piece.done else start
        self.text_since = self.text_since or any(says_something(piece.raw(at)) for at in range(after, piece.at))

    def _rows(self, host: Host, piece: Piece | NativePiece, until: int) -> int:
        """Read metric lines up to a place; how many were as expected."""
        if until - piece.done < FEW or not self._known.shape.usable() or not host.steady():
            return 0
        block = piece.rows(self._known, until)
        if block is None or not len(block.steps):
            return 0
        last = piece.done + len(block.steps) - 1
        before = piece.metrics(last - 1).raw if len(block.steps) > 1 else b""
        self.text_since = False
        host.report(replace(block, line=piece.number_of(last)), Lines(piece.metrics(last).raw, before))
        return len(block.steps)

    def _one(self, host: Host, piece: Piece | NativePiece) -> None:
        """Read the next line the slow way."""
        host.settle(complete=self.text_since)
        self.text_since = False
        if piece.done < piece.total and piece.noises[piece.done] <= piece.at:
            self._together.clear()
            host.slow(piece.metrics(piece.done).raw, piece.number_of(piece.done))
            piece.done += 1
            return
        raw, kind, line = piece.raw(piece.at), piece.kind(piece.at), piece.number(piece.at)
        piece.looked.add(piece.at)
        piece.at += 1
        begun = host.idle() or bool(self._together)
        events = host.slow(raw, line)
        if not begun:
            return
        self._together.append((kind, raw, line))
        if host.quotes():
            return
        together, self._together = self._together, []
        idle = host.idle() and all(type(event) is Line for event in events)
        spoken = {event.line for event in events if type(event) is Line}
        for kind, raw, line in together:
            self._meet(kind, raw, idle=idle, spoken=line in spoken)

    def _meet(self, kind: bytes, raw: bytes, *, idle: bool, spoken: bool) -> None:
        """A line was read the slow way. idle: it did nothing. spoken: it gave text."""
        met = self._met.get(kind, 0)
        if met < 0 or kind in self._dull or len(raw) > MAX_LENGTH or len(self._met) > MAX_MET:
            return
        if not idle:
            self._met[kind] = 0  # it did something, as the first progress bar does: those after it may be dull
            return
        word = must_hold(raw)
        if word is not None and met >= REPEATED and len(self._dull) < MAX_ALIKE:
            word = self._quoted.learn(kind, raw, word, len(self._dull))
            if word is not None:
                self._dull[kind] = word
                self._mute |= set() if spoken else {kind}
        self._met[kind] = -1 if word is None else met + 1

    def _pass(self, piece: Piece | NativePiece, looked: set[int]) -> None:
        """Remember the lines that were passed over; only the latest of each kind, and the last ones, count at the end.

        So those of a piece are taken out of it where the next piece has none that take their place.
        """
        before, self._last = self._last, Passed(piece, looked, self._mute)
        if before is not None:
            self._keep(before, self._last)

    def _keep(self, last: Passed, after: Passed | None = None) -> None:
        """Take the lines out of a piece; those that the piece after it has anew are left there."""
        anew = after.latest if after else {}
        for kind, at in last.latest.items():
            if kind not in anew:
                self._passed[kind] = last.line(at)
        if after is None or len(after.last) < TAIL:
            self._tail.extend(map(last.line, last.last))

    def passed(self) -> list[Line]:
        """What is to be reported at the end, in order."""
        if self._last is not None:
            self._keep(self._last)
        frames = (
            frame for line, raw in sorted({*self._passed.values(), *self._tail}) for frame in Frames.of(raw, line)
        )
        return [line for frame in frames for line in line_of(frame, find_bar(frame.text))]


class Passed:
    """The lines of a piece that was read which are to be reported if none comes after them: they were passed over.

    latest: kind -> place of its latest line. last: places of the last lines, in order.
    """

    def __init__(self, piece: Piece | NativePiece, looked: set[int], mute: set[bytes]) -> None:
        self._piece = piece
        self.latest = {kind: at for kind, at in piece.latest() if kind not in mute and at not in looked}
        last = (at for at in piece.backwards(mute) if at not in looked)
        self.last = list(islice(last, TAIL))[::-1]

    def __deepcopy__(self, _: dict[int, Any]) -> Passed:
        return self

    def line(self, at: int) -> tuple[int, bytes]:
        """Number in the log, and the line."""
        return self._piece.number(at), self._piece.raw(at)


def says_something(raw: bytes) -> bool:
    """Whether a line has any text besides prefixes of processes."""
    return any(frame.text for frame in Frames.of(raw, 1))


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
