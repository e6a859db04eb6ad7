"""Rows of a recording that stand: polars frames that all its states share, so that a new row costs a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from klinic.diagnostics.shallowcopy import shallow_copy

Part = tuple[int, pl.DataFrame]  # number of rows, which a frame without a column does not know


class Sealed:
    """Frames one above the other. None is changed in place: whoever was given one keeps it as it was.

    dtype, fill: of a column in the frames that were sealed before it appeared.
    """

    def __init__(self, dtype: Any, fill: Any = None) -> None:
        self.rows = 0
        self.names: set[str] = set()
        self._dtype, self._fill = dtype, fill
        self._parts: list[Part] = []
        self._whole: pl.DataFrame | None = None

    def fork(self) -> Sealed:
        """A copy that goes its own way from here; the frames are shared."""
        other = shallow_copy(self)
        other._parts, other.names = self._parts.copy(), self.names.copy()
        return other

    def add(self, frame: pl.DataFrame, rows: int) -> None:
        """Seal rows. Frames are joined as they grow alike, so that there are few and each row is seldom copied."""
        self.rows += rows
        self.names.update(frame.columns)
        self._parts.append((rows, frame))
        while len(self._parts) > 1 and self._parts[-2][0] < 2 * self._parts[-1][0]:
            (upper, above), (lower, below) = self._parts[-2:]
            above = self._widened(above, upper, below)
            self._parts[-2:] = [(upper + lower, pl.concat([above, below], rechunk=True))]
        self._whole = None

    def above(self, opened: pl.DataFrame) -> pl.DataFrame:
        """All rows, the open ones last; those have every column."""
        return self._all(opened).vstack(opened) if self._parts else opened

    def _all(self, like: pl.DataFrame) -> pl.DataFrame:
        if self._whole is None or self._whole.columns != like.columns:
            self._parts = [(rows, self._widened(frame, rows, like)) for rows, frame in self._parts]
            self._whole = pl.concat([frame for _, frame in self._parts], rechunk=False)
        return self._whole

    def _widened(self, frame: pl.DataFrame, rows: int, like: pl.DataFrame) -> pl.DataFrame:
        """The frame with the columns of another one, in their order."""
        if frame.columns == like.columns:
            return frame
        known = set(frame.columns)
        return pl.DataFrame([frame[name] if name in known else self._empty(name, rows) for name in like.columns])

    def _empty(self, name: str, rows: int) -> pl.Series:
        return pl.repeat(self._fill, rows, dtype=self._dtype, eager=True).alias(name)

    def cells(self, name: str, first: int, last: int) -> list[Any]:
        """Values of a column in rows [first, last)."""
        found: list[Any] = []
        for start, rows, frame in self._placed():
            a, b = max(first - start, 0), min(last - start, rows)
            if a < b:
                found += frame[name].slice(a, b - a).to_list() if name in frame else [self._fill] * (b - a)
        return found

    def _placed(self) -> Iterator[tuple[int, int, pl.DataFrame]]:
        start = 0
        for rows, frame in self._parts:
            yield start, rows, frame
            start += rows

    def write(self, name: str, first: int, cells: Sequence[Any]) -> None:
        """Write a column's values anew from row `first` on: a frame that holds some of these rows is replaced."""
        self.names.add(name)
        for number, (start, rows, frame) in enumerate(self._placed()):
            a, b = max(first - start, 0), min(first + len(cells) - start, rows)
            if a < b:
                column = frame[name] if name in frame else self._empty(name, rows)
                new = pl.Series(name, cells[a + start - first : b + start - first], dtype=self._dtype)
                joined = pl.concat([column.slice(0, a), new, column.slice(b)], rechunk=True)
                columns = {each.name: each for each in frame} | {name: joined}
                self._parts[number] = rows, pl.DataFrame(list(columns.values()))
                self._whole = None
