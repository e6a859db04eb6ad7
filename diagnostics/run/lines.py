"""Keep the text lines worth a second look: errors, warnings, tracebacks and the tail, bounded in memory."""

from __future__ import annotations

import re
from collections import deque

from klinic.diagnostics.run.events import Line

MAX_KEPT = 4000
TAIL = 60
MAX_WIDTH = 4000

# Generic words of trouble; an incident card whose text none of them meets is caught by its own case.
TROUBLE = re.compile(
    r"error|exception|traceback|assert|fail|fatal|abort|kill|timeout|timed out|out of memory|oom|"
    r"could not|cannot|not in struct|no space|full|signal|segfault|not finite|\bnan\b|mismatch|missing|"
    r"not found|not implemented|deprecat|ignored|unrecogni[sz]ed|resum|divisible|must be|should be",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")


class LinesOfNote:
    """Lines that match `TROUBLE` (each wording once per number pattern, the first and the latest), and the tail.

    A traceback is kept whole: from its "Traceback" line to its unindented last line.
    """

    def __init__(self) -> None:
        self._kept: dict[int, Line] = {}
        self._seen: dict[str, int] = {}
        self._tail: deque[Line] = deque(maxlen=TAIL)
        self._in_traceback = 0

    def add(self, line: Line) -> None:
        """Look at one line."""
        text = line.text
        if len(text) > MAX_WIDTH:
            line = Line(text[:MAX_WIDTH], line.line)
        self._tail.append(line)
        if "Traceback (most recent call last)" in text:
            self._in_traceback = 400
        if self._in_traceback:
            self._in_traceback = 0 if self._ends_traceback(text) else self._in_traceback - 1
            self._keep(line)
        elif TROUBLE.search(text):
            self._keep_once(line)

    @staticmethod
    def _ends_traceback(text: str) -> bool:
        return bool(text.strip()) and not text.startswith((" ", "\t", "Traceback"))

    def _keep_once(self, line: Line) -> None:
        pattern = _DIGITS.sub("#", line.text[:300])
        times = self._seen.get(pattern, 0)
        self._seen[pattern] = times + 1
        if times < 3:
            self._keep(line)

    def _keep(self, line: Line) -> None:
        if len(self._kept) < MAX_KEPT:
            self._kept[line.line] = line

    def kept(self) -> tuple[Line, ...]:
        """The lines kept so far, in order of their numbers."""
        both = self._kept | {line.line: line for line in self._tail}
        return tuple(both[number] for number in sorted(both))
