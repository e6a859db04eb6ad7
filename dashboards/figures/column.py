"""A column of a run that grows: only appended to, with the extremes of each full stretch at hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from klinic.dashboards.figures.arrays import Floats, Ints

Singles = NDArray[np.float32]
STRETCH = 64  # rows; a run of 100,000 is seen whole through 3,000 of them
WIDE = 256 * STRETCH  # a view of fewer rows is drawn from all of them


class Column:
    """float32 values a row, NaN where there is none; float32 holds more digits than a picture shows.

    A reader keeps the arrays that it was given: they are views of what only grows behind their end.
    """

    def __init__(self) -> None:
        self._values: Singles = np.empty(0, np.float32)
        self._extremes: Ints = np.empty(0, np.int64)  # two a full stretch: the rows of its smallest and largest value
        self.rows = 0

    def put(self, first: int, values: Floats) -> None:
        """Write the values of the rows from `first` on, which lie behind or at the end of what is known."""
        last = first + len(values)
        if last > len(self._values):
            room = np.full(max(last, 2 * len(self._values), STRETCH), np.nan, np.float32)
            room[: self.rows] = self._values[: self.rows]
            self._values = room
        with np.errstate(over="ignore", invalid="ignore"):
            self._values[first:last] = values
        self.rows = max(last, self.rows)
        self._find(first)

    def _find(self, first: int) -> None:
        """The extremes of the stretches that are full now and were not, or changed."""
        known, full = min(first // STRETCH, len(self._extremes) // 2), self.rows // STRETCH
        if known >= full:
            return
        stretches = self._values[known * STRETCH : full * STRETCH].reshape(-1, STRETCH)
        hidden = np.isnan(stretches)
        ends = np.stack([np.where(hidden, np.inf, stretches).argmin(1), np.where(hidden, -np.inf, stretches).argmax(1)])
        starts = np.arange(known, full) * STRETCH
        self._extremes = np.concatenate([self._extremes[: 2 * known], np.sort(ends + starts, axis=0).T.ravel()])

    def values(self, rows: int) -> Singles:
        """The first rows' values."""
        return self._values[:rows]

    def telling(self, first: int, last: int) -> Ints:
        """Rows in [first, last) that hold all its peaks and dips; every one of them where they are few."""
        start, end = -(-first // STRETCH), min(last // STRETCH, len(self._extremes) // 2)
        if last - first <= WIDE or start >= end:
            return np.arange(first, last)
        head, tail = np.arange(first, start * STRETCH), np.arange(end * STRETCH, last)
        rows = np.concatenate([head, self._extremes[2 * start : 2 * end], tail])
        return rows[np.diff(rows, prepend=-1) > 0]  # a stretch of one value has one row for both
