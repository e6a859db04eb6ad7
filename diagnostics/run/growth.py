"""How a recording's rows came about, so that what was worked out of them can be kept while more rows arrive."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

KEPT = 1000  # of the latest changes, those that can still be told apart


@dataclass(frozen=True, eq=False)
class Growth:
    """What changed behind the last row of a recording so far.

    recording: one object for all states of one recording. number: how many changes there were. recent: (number of
    the change, row), the latest ones in order; changes of one row in a row count once, under the last number.
    """

    recording: object
    number: int = 0
    recent: tuple[tuple[int, int], ...] = ()

    def untouched(self, before: Growth, rows: int) -> int:
        """How many of the first `rows` rows, all but the last few of an earlier state, are as they were then."""
        if self.recording is not before.recording or self.number < before.number:
            return 0
        new = [(number, row) for number, row in self.recent if number > before.number]
        if len(new) == len(self.recent) == KEPT:
            return 0
        return min([rows, *(row for _, row in new)])


class Changes:
    """Counts the changes of one recording."""

    def __init__(self) -> None:
        self._recording: object = object()
        self._number = 0
        self._recent: deque[tuple[int, int]] = deque(maxlen=KEPT)
        self._borrowed = False

    def fork(self) -> Changes:
        """The same recording; a change that only the fork has makes it another one."""
        other = Changes()
        other._recording, other._number, other._borrowed = self._recording, self._number, True
        other._recent = self._recent.copy()
        return other

    def add(self, row: int) -> None:
        """A row before the last one has changed."""
        if self._borrowed:
            self._recording, self._borrowed = object(), False
        self._number += 1
        if self._recent and self._recent[-1][1] == row:
            self._recent.pop()
        self._recent.append((self._number, row))

    def so_far(self) -> Growth:
        """The growth as it stands."""
        return Growth(self._recording, self._number, tuple(self._recent))
