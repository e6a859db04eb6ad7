"""Cells of metrics by column: the latest rows in plain arrays, NaN for "no finite value", codes beside them; the rows
before those are sealed, and shared by all states of the recording."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence

import polars as pl

from klinic.diagnostics.run.model import FINITE
from klinic.diagnostics.run.sealed import Sealed

MAX_METRICS = 200_000
FEW = 1000  # rows: of no more polars makes a series sooner from a list than it imports what it wants for an array
TALL = 2048  # rows from which on each metric is a series of its own
OPEN, MOST_OPEN = 8, 64  # rows that stay open when others are sealed, and from how many on that is done


class Cells:
    """Columns that grow at their ends; a value that comes late opens its column again."""

    def __init__(self) -> None:
        self.rows = 0
        self.dropped = 0
        self._at = -1  # the row that is written
        self._base = 0  # the first row that is open
        self._values: dict[str, array[float]] = {}  # from that row on
        self._starts: dict[str, int] = {}  # columns that were opened again from an earlier row on
        self._ends: dict[str, int] = {}  # row after the last value of a column, all of whose values are sealed
        self._codes: dict[str, dict[int, int]] = {}
        self._sealed, self._flags = Sealed(pl.Float64), Sealed(pl.Int8, 0)

    @property
    def many_open(self) -> bool:
        """Whether there are rows to seal."""
        return self.rows - self._base > MOST_OPEN

    def copy_to(self, other: Cells) -> None:
        """Let another hold what this one does, to go its own way from here."""
        other.rows, other._at, other._base, other.dropped = self.rows, self._at, self._base, self.dropped
        other._values = {name: column[:] for name, column in self._values.items()}
        other._codes = {name: dict(codes) for name, codes in self._codes.items()}
        other._starts, other._ends = dict(self._starts), dict(self._ends)
        other._sealed, other._flags = self._sealed.fork(), self._flags.fork()

    def start_row(self) -> None:
        """Open a new row; values put from now on belong to it."""
        self._at = self.rows
        self.rows += 1

    def _filled(self, name: str) -> array[float] | None:
        """The column, open and filled up to the row that is written."""
        column = self._values.get(name)
        if column is None:
            if len(self._values) >= MAX_METRICS:
                self.dropped += 1
                return None
            column = self._values[name] = array("d")
        start = self._starts.get(name, self._base)
        if start > max(self._at, 0):
            start = self._open_again(name, self._at)
        missing = self._at + 1 - start - len(column)
        if missing > 0:
            column.extend([math.nan] * missing)
        return column

    def _open_again(self, name: str, row: int) -> int:
        """Take a column's sealed values from a row on back into the open: a value came late."""
        start, column = self._starts.get(name, self._base), self._values[name]
        last = start if column else max(self._end(name), row)
        cells = self._sealed.cells(name, row, last)
        column[:0] = array("d", [math.nan if cell is None else cell for cell in cells])
        codes = self._codes.setdefault(name, {})
        codes.update({row + at: code for at, code in enumerate(self._flags.cells(name, row, last)) if code})
        self._starts[name] = row
        return row

    def _end(self, name: str) -> int:
        """The row after the last one in which the metric was written."""
        column = self._values.get(name)
        return self._starts.get(name, self._base) + len(column) if column else self._ends.get(name, 0)

    def _holds(self, name: str, row: int) -> bool:
        cell, code = self._cell(name, row)
        return code != FINITE or cell == cell

    def _cell(self, name: str, row: int) -> tuple[float, int]:
        """Value and code of a metric in a row; NaN and 0 where it was not written."""
        column = self._values.get(name)
        if column is None or row >= self._end(name):
            return math.nan, FINITE
        at = row - self._starts.get(name, self._base)
        if at >= 0:
            return column[at], self._codes.get(name, {}).get(row, FINITE)
        cell, code = self._sealed.cells(name, row, row + 1)[0], self._flags.cells(name, row, row + 1)[0]
        return (math.nan if cell is None else cell), code

    def frames(self, fixed: Sequence[pl.Series]) -> tuple[pl.DataFrame, pl.DataFrame, int]:
        """All rows as they stand, their non-finite codes, and how many rows were sealed just now.

        fixed: columns of the open rows that stand before the metrics. Float64, null where there is no finite value.
        """
        self._close_again()
        opened = pl.DataFrame([*fixed, *self._opened()])
        spoiled = [name for name, codes in self._codes.items() if codes or name in self._flags.names]
        flags = pl.DataFrame(list(map(self._codes_of, spoiled)))
        frame, nonfinite = self._sealed.above(opened), self._flags.above(flags)
        number = self.rows - self._base - OPEN if self.many_open else 0
        if number:
            self._sealed.add(opened.head(number), number)
            self._flags.add(flags.head(number), number)
            self._forget(self._base + number)
        return frame, nonfinite, number

    def _close_again(self) -> None:
        """Seal what was opened again."""
        for name, start in self._starts.items():
            column, number = self._values[name], self._base - start
            cells, codes = column[:number].tolist(), self._codes.get(name, {})
            self._sealed.write(name, start, [None if cell != cell else cell for cell in cells])
            if codes or name in self._flags.names:
                self._flags.write(name, start, [codes.pop(start + at, FINITE) for at in range(len(cells))])
            self._ends[name] = start + len(cells)
            del column[:number]
        self._starts.clear()

    def _forget(self, base: int) -> None:
        """Rows before `base` are sealed."""
        for name, column in self._values.items():
            if column:
                self._ends[name] = min(self._base + len(column), base)
                self._values[name] = column[base - self._base :]  # series may stand on the one before
        for codes in self._codes.values():
            for row in [row for row in codes if row < base]:
                del codes[row]
        self._base = base

    def _opened(self) -> Iterator[pl.Series]:
        """The open rows of each metric: stretches of one series, which is made once where it costs little memory."""
        height = self.rows - self._base
        if height > TALL:
            return (self._alone(name, column, height) for name, column in self._values.items())
        whole = self._short(height) if height <= FEW else self._long(height)
        return (whole.slice(place * height, height).alias(name) for place, name in enumerate(self._values))

    def _short(self, height: int) -> pl.Series:
        cells: list[float | None] = []
        for column in self._values.values():
            cells += [None if cell != cell else cell for cell in column]
            cells += [None] * (height - len(column))
        return pl.Series(cells, dtype=pl.Float64)

    def _alone(self, name: str, column: array[float], height: int) -> pl.Series:
        import numpy as np

        if len(column) < height:
            column = column + array("d", [math.nan] * (height - len(column)))
        return pl.Series(name, np.frombuffer(column), dtype=pl.Float64, nan_to_null=True)

    def _long(self, height: int) -> pl.Series:
        import numpy as np

        cells = np.full((len(self._values), height), math.nan)
        for row, column in zip(cells, self._values.values(), strict=True):
            row[: len(column)] = column
        return pl.Series(cells.reshape(-1), dtype=pl.Float64, nan_to_null=True)

    def _codes_of(self, name: str) -> pl.Series:
        """The codes of the open rows."""
        codes = [FINITE] * (self.rows - self._base)
        for row, code in self._codes[name].items():
            codes[row - self._base] = code
        return pl.Series(name, codes, dtype=pl.Int8)
