"""k of the last n known rows: when a level fires, and since which row."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field


@dataclass
class Patience:
    """Counts a level's truth row by row; an unknown row neither counts nor resets, a new attempt starts anew.

    firing: whether it fires now. onset: row of the first true value in the window that made it fire.
    """

    k: int
    of: int
    firing: bool = False
    onset: int | None = None
    _true: int = 0  # true rows among the recent ones
    _recent: deque[tuple[int, bool]] = field(default_factory=deque)

    def take(self, row: int, held: float) -> bool:
        """Take a row's truth (1, 0, or NaN where unknown); returns whether the level fires at it."""
        if math.isnan(held):
            return self.firing
        self._recent.append((row, held > 0))
        self._true += held > 0
        if len(self._recent) > self.of:
            self._true -= self._recent.popleft()[1]
        fires = self._true >= self.k
        if fires and not self.firing:
            self.onset = next(at for at, true in self._recent if true)
        self.firing = fires
        return fires

    @property
    def idle(self) -> bool:
        """Neither firing nor with a true row in its window: rows that are not true leave it as it is."""
        return not self.firing and not self._true

    def reset(self) -> None:
        """Forget everything: a new attempt begins."""
        self.firing, self.onset, self._true = False, None, 0
        self._recent.clear()
