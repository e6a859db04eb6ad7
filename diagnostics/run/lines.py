"""Keep the text lines worth a second look: errors, warnings, tracebacks and the tail, bounded in memory."""

from __future__ import annotations

import re
from collections import deque

from klinic.diagnostics.run.events import Line

MAX_KEPT = 4000
TAIL = 60
MAX_WIDTH = 4000
MAX_TRACEBACK = 400
MAX_IN_TRACEBACKS = 1500
MAX_WORDINGS = 1500
AFTER = 4

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
    with it.
    """

    def __init__(self) -> None:
        self._count = 0
        self._kept: dict[int, Line] = {}
        self._latest: dict[str, tuple[int, Line]] = {}
        self._seen: dict[str, int] = {}
        self._tail: deque[tuple[int, Line]] = deque(maxlen=TAIL)
        self._first: dict[int, Line] = {}
        self._recent: deque[tuple[int, Line]] = deque(maxlen=MAX_IN_TRACEBACKS // 2)
        self._left: dict[str, int] = {}
        self._after: dict[str, int] = {}

    def add(self, line: Line) -> None:
        """Look at one line."""
        self._count += 1
        if len(line.text) > MAX_WIDTH:
            line = Line(line.text[:MAX_WIDTH], line.line, line.source)
        self._tail.append((self._count, line))
        if self._in_traceback(line):
            self._recent.append((self._count, line))
            if len(self._first) < MAX_IN_TRACEBACKS:
                self._first[self._count] = line
        elif troubled(line.text):
            self._keep_some(line, AFTER)
        elif announces(line.text):
            self._keep_some(line, 0)
        elif self._after.get(line.source):
            self._after[line.source] -= 1
            self._keep(line)

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

    def _keep_some(self, line: Line, after: int) -> None:
        pattern = _DIGITS.sub("#", line.text[:300])
        times = self._seen.get(pattern, 0)
        if times or len(self._seen) < MAX_WORDINGS:
            self._seen[pattern] = times + 1
        if times < 2:
            self._keep(line)
            self._after[line.source] = max(after, self._after.get(line.source, 0))
        else:
            self._latest[pattern] = (self._count, line)

    def _keep(self, line: Line) -> None:
        if len(self._kept) < MAX_KEPT:
            self._kept[self._count] = line

    def kept(self) -> tuple[Line, ...]:
        """The lines kept so far, in order of reading."""
        both = self._first | self._kept | dict(self._latest.values()) | dict(self._recent) | dict(self._tail)
        return tuple(both[number] for number in sorted(both))
