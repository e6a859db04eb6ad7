"""Keep the text lines worth a second look: errors, warnings, tracebacks and the tail, bounded in memory."""

from __future__ import annotations

import re
from collections import deque

from klinic.diagnostics.run.events import Line
from klinic.diagnostics.run.orderedlines import OrderedLines, Place
from klinic.diagnostics.shallowcopy import shallow_copy

MAX_KEPT = 4000
TAIL = 60
MAX_WIDTH = 4000
MAX_TRACEBACK = 400
MAX_IN_TRACEBACKS = 1500
MAX_WORDINGS = 1500
AFTER = 4
REPEATED, MAX_MET = 8, 50_000

# Generic words of trouble; an incident card whose text none of them meets is caught by its own case.
WORDS = (
    "error",
    "exception",
    "traceback",
    "assert",
    "fail",
    "fatal",
    "abort",
    "kill",
    "timeout",
    "timed out",
    "out of memory",
    "oom",
    "could not",
    "couldn't",
    "cannot",
    "not in struct",
    "no space",
    "full",
    "signal",
    "segfault",
    "not finite",
    "nan",
    "mismatch",
    "missing",
    "not found",
    "not implemented",
    "deprecat",
    "ignored",
    "unrecogni",
    "resum",
    "divisible",
    "must be",
    "should be",
    "exceed",
    "smaller than",
    "larger than",
    "greater than",
    "unexpected",
    "invalid",
    "not supported",
    "died",
    "lost",
    "unhealthy",
    "hang",
    "too many",
    "disabled",
    "no such",
    "denied",
    "refused",
    "unreachable",
    "overflow",
    "underflow",
)
# What a launch says about itself once, at its start: facts that the config may lack.
ANNOUNCED = ("dataset size", "dataset len", "training steps", "optimization steps", "num examples", "from scratch")
_NAN = re.compile(r"\bnan\b")
_DIGITS = re.compile(r"\d+")
_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))
_NOWHERE: Place = (-1, -1, -1)
_HEAD = "Traceback (most recent call last)"
_FRAME = '  File "'
# Python's own exceptions end a traceback unindented; Ray chains the cause below its own class.
_CHAIN = re.compile(r"The above exception was|During handling of the above|\S*RayTaskError|\S*ActorDiedError")


def troubled(text: str) -> bool:
    """Whether a line speaks of trouble; cheap, for it sees every line of a log."""
    low = text.lower()
    return any(word in low and (word != "nan" or _NAN.search(low) is not None) for word in WORDS)


def announces(text: str) -> bool:
    """Whether a line tells the size of a run."""
    low = text.lower()
    return any(word in low for word in ANNOUNCED)


class LinesOfNote:
    """Lines that speak of trouble or of the set-up (each wording twice and its latest), tracebacks, and the tail.

    Tracebacks are followed per process, so lines of another process between theirs do not break them; the first
    ones and the latest are kept. What follows an unindented error (`full_key: ...` below a Hydra error) is kept
    with it. A wording (a line without its digits) that came more than `REPEATED` times only moves on: its latest
    line is kept in place of the one before, if it was ever of note. So a reader may leave repeated lines out and
    report the latest ones at the end.
    """

    def __init__(self) -> None:
        self._count = 0
        self._shelf = OrderedLines()
        self._latest: dict[str, Place] = {}
        self._seen: dict[str, int] = {}
        self._times: dict[str, int] = {}
        self._noted: set[str] = set()
        self._tail: list[tuple[Place, Line]] = []
        self._last: dict[Place, Line] = {}  # the tail as it was shown last
        self._kept = self._first = 0
        self._recent: deque[Place] = deque()
        self._left: dict[str, int] = {}
        self._after: dict[str, int] = {}
        self._given: tuple[Line, ...] | None = ()  # what `kept` said, as long as it holds

    def fork(self) -> LinesOfNote:
        """A copy that goes its own way from here; what is kept so far is the same for both."""
        self.kept()
        other = shallow_copy(self)
        other._shelf = self._shelf.fork()
        for name in ["latest", "seen", "times", "noted", "tail", "recent", "left", "after"]:
            setattr(other, f"_{name}", getattr(self, f"_{name}").copy())
        return other

    def add(self, line: Line, part: int = 0) -> None:
        """Look at one line of a part of the recording."""
        self._count += 1
        self._given = None
        if len(line.text) > MAX_WIDTH:
            line = Line(line.text[:MAX_WIDTH], line.line, line.source)
        place = part, line.line, self._count
        self._add_to_tail(place, line)
        wording = line.text.translate(_NO_DIGITS)
        times = self._times.get(wording, 0)
        if times or len(self._times) < MAX_MET:
            self._times[wording] = times + 1
        if times < REPEATED:
            if self._look(place, line):
                self._noted.add(wording)
        elif wording in self._noted and place > self._latest.get(wording, _NOWHERE):
            self._move_on(wording, place, line)

    def _move_on(self, wording: str, place: Place, line: Line) -> None:
        """The latest line of a wording takes the place of the one before."""
        before = self._latest.get(wording)
        self._latest[wording] = place
        self._shelf.put(place, line)
        if before is not None:
            self._shelf.drop(before)

    def _add_to_tail(self, place: Place, line: Line) -> None:
        self._tail.append((place, line))
        if len(self._tail) > 4 * TAIL:
            self._tail = sorted(self._tail, key=_place)[-TAIL:]

    def _look(self, place: Place, line: Line) -> bool:
        """Keep a line if it is of note; whether it was."""
        if self._in_traceback(line):
            self._keep_traceback(place, line)
        elif troubled(line.text):
            self._keep_some(place, line, AFTER)
        elif announces(line.text):
            self._keep_some(place, line, 0)
        elif self._after.get(line.source):
            self._after[line.source] -= 1
            self._keep(place, line)
            return False
        else:
            return False
        return True

    def _keep_traceback(self, place: Place, line: Line) -> None:
        """The first lines and the latest."""
        self._shelf.put(place, line)
        self._recent.append(place)
        if len(self._recent) > MAX_IN_TRACEBACKS // 2:
            self._shelf.drop(self._recent.popleft())
        if self._first < MAX_IN_TRACEBACKS:
            self._first += 1
            self._shelf.put(place, line)

    def _in_traceback(self, line: Line) -> bool:
        text, source = line.text, line.source
        if _HEAD in text or text.startswith(_FRAME) or _CHAIN.match(text):
            self._left[source] = MAX_TRACEBACK
            return True
        left = self._left.get(source, 0)
        if not left:
            return False
        ends = bool(text.strip()) and not text.startswith((" ", "\t"))
        self._left[source] = 0 if ends else left - 1
        if ends:
            self._after[source] = AFTER
        return True

    def _keep_some(self, place: Place, line: Line, after: int) -> None:
        pattern = _DIGITS.sub("#", line.text[:300])
        times = self._seen.get(pattern, 0)
        if times or len(self._seen) < MAX_WORDINGS:
            self._seen[pattern] = times + 1
        if times < 2:
            self._keep(place, line)
            self._after[line.source] = max(after, self._after.get(line.source, 0))
        else:
            self._move_on(line.text.translate(_NO_DIGITS), place, line)

    def _keep(self, place: Place, line: Line) -> None:
        if self._kept < MAX_KEPT:
            self._kept += 1
            self._shelf.put(place, line)

    def kept(self) -> tuple[Line, ...]:
        """The lines kept so far, in the order in which they stand, secrets masked."""
        if self._given is None:
            self._put_tail()
            self._given = tuple(self._shelf.lines())
        return self._given

    def _put_tail(self) -> None:
        before, now = self._last, dict(sorted(self._tail, key=_place)[-TAIL:])
        for place in now.keys() - before.keys():
            self._shelf.put(place, now[place])
        for place in before.keys() - now.keys():
            self._shelf.drop(place)
        self._last = now


def _place(item: tuple[Place, Line]) -> Place:
    return item[0]
