"""k of the last n known rows: when a level fires, and since which row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.shallowcopy import shallow_copy
from klinic.diagnostics.signals.block import Floats, Mask

Rows = npt.NDArray[np.int64]
NOWHERE = -1


class Patience:
    """Counts a level's truth as rows arrive; an unknown row neither counts nor resets, a new attempt starts anew.

    firing: whether it fires now. onset: row of the first true value in the window that made it fire.
    """

    def __init__(self, k: int, of: int) -> None:
        self.k, self.of = k, of
        self.reset()

    def reset(self) -> None:
        """Forget everything: a new attempt begins."""
        self.firing, self.onset = False, NOWHERE
        self._rows: Rows = np.empty(0, np.int64)  # the last of - 1 known rows
        self._true: Mask = np.empty(0, np.bool_)

    def fork(self) -> Patience:
        """A count that goes its own way from here."""
        return shallow_copy(self)

    @property
    def idle(self) -> bool:
        """Neither firing nor with a true row in its window: rows that are not true leave it as it is."""
        return not self.firing and not self._true.any()

    def take(self, first: int, truths: Floats) -> tuple[Mask, Rows]:
        """Take rows from `first` on (1, 0, or NaN where unknown): whether it fires at each of them, and since where."""
        if len(truths) == 1:
            fires_now, onset = self.take_one(first, float(truths[0]))
            return np.array([fires_now]), np.array([onset])
        known = np.flatnonzero(~np.isnan(truths))
        rows = np.concatenate([self._rows, known + first])
        true = np.concatenate([self._true, truths[known] > 0])
        fires, onsets = self._counted(rows, true, len(self._rows))
        kept = max(0, len(rows) - self.of + 1)
        self._rows, self._true = rows[kept:], true[kept:]
        before = np.searchsorted(known, np.arange(len(truths)), side="right")  # known rows up to each row
        firing = np.concatenate([[self.firing], fires])[before]
        since = np.concatenate([[self.onset], onsets])[before]
        self.firing, self.onset = bool(firing[-1]), int(since[-1])
        return firing, since

    def take_one(self, row: int, truth: float) -> tuple[bool, int]:
        """The same for a single row."""
        if truth == truth:
            rows, true = np.append(self._rows, row), np.append(self._true, truth > 0)
            fires = int(np.count_nonzero(true)) >= self.k
            if fires and not self.firing:
                self.onset = int(rows[int(np.argmax(true))])
            self.firing = fires
            kept = max(0, len(rows) - self.of + 1)
            self._rows, self._true = rows[kept:], true[kept:]
        return self.firing, self.onset

    def _counted(self, rows: Rows, true: Mask, old: int) -> tuple[Mask, Rows]:
        """Whether it fires at each known row from index `old` on, and since which row."""
        ends = np.arange(old, len(rows))
        starts = np.maximum(ends - self.of + 1, 0)
        sums = np.concatenate([[0], np.cumsum(true)])
        fires = sums[ends + 1] - sums[starts] >= self.k
        onsets = np.full(len(ends), NOWHERE, np.int64)
        begun = np.flatnonzero(fires & ~np.concatenate([[self.firing], fires[:-1]])[: len(fires)])
        for at in begun:
            onsets[at] = rows[starts[at] + int(np.argmax(true[starts[at] : ends[at] + 1]))]
        latest = np.searchsorted(begun, np.arange(len(ends)), side="right") - 1
        held = np.where(latest >= 0, onsets[begun[latest]] if len(begun) else self.onset, self.onset)
        return fires, held
