"""Metrics by column while rows arrive: plain arrays, NaN for "no finite value", codes beside them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from klinic.diagnostics.knowledge.names import scale
from klinic.diagnostics.run.events import Block
from klinic.diagnostics.run.model import FINITE, MINUS_INF, NAN, PLUS_INF, SWALLOWED

if TYPE_CHECKING:
    import numpy as np

MAX_METRICS = 200_000
OWN_COLUMNS = ("step", "time", "attempt")
SURE = 2  # rows with a value after which a null is taken for a swallowed NaN where the format leaves it open


def _code(value: float) -> int:
    if math.isfinite(value):
        return FINITE
    if math.isnan(value):
        return NAN
    return PLUS_INF if value > 0 else MINUS_INF


def as_float(value: float) -> float:
    """A float of any number; an integer beyond a float's range becomes an infinity of its sign."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _column_name(name: str) -> str:
    """A metric's name as a column: as it is, but for lone surrogates, and apart from the frame's own columns."""
    return f"metric/{name}" if name in OWN_COLUMNS else name.encode("utf-8", "replace").decode()


class Columns:
    """The metrics of the rows so far. rename: name as written -> name of the column."""

    def __init__(self, rename: Callable[[str], str]) -> None:
        self.rows = 0
        self._at = -1  # the row that is written
        self.values: dict[str, array[float]] = {}
        self.codes: dict[str, dict[int, int]] = {}
        self.dropped = 0
        self._sparse: set[str] = set()
        self._gaps: set[str] = set()
        self._rename = rename
        self._names: dict[str, tuple[str, float]] = {}
        self._own: dict[str, array[float]] = {}  # columns whose metric is written under verl's own name

    def fork(self, rename: Callable[[str], str]) -> Columns:
        """A copy that can grow without touching this one."""
        other = Columns(rename)
        other.rows, other._at, other.dropped = self.rows, self._at, self.dropped
        other.values = {name: column[:] for name, column in self.values.items()}
        other.codes = {name: dict(codes) for name, codes in self.codes.items()}
        other._sparse, other._gaps, other._names = set(self._sparse), set(self._gaps), dict(self._names)
        other._own = {name: other.values[name] for name in self._own}
        return other

    def name(self, raw: str) -> str:
        """The column's name for a name as written."""
        return self._resolve(raw)[0]

    def _resolve(self, raw: str) -> tuple[str, float]:
        """The column of a name as written, and the factor of the unit that the name carries."""
        known = self._names.get(raw)
        if known is None:
            known = self._names[raw] = _column_name(self._rename(raw)), scale(raw)
        return known

    def forget_names(self) -> None:
        """The framework became known: names are mapped anew from here on."""
        self._names.clear()
        self._own.clear()

    def start_row(self) -> None:
        """Open a new row; values put from now on belong to it."""
        self._at = self.rows
        self.rows += 1

    def conflicts(self, values: Mapping[str, float | None]) -> bool:
        """Whether the open row holds another value already for one of these metrics."""
        return any(self._differs(*self._target(raw, values), value) for raw, value in values.items())

    def _differs(self, name: str, factor: float, value: float | None) -> bool:
        row = self._at
        code = self.codes.get(name, {}).get(row)
        if code is not None:
            return value is not None and _code(as_float(value)) != code
        return self._holds(name, row) and (value is None or as_float(value) * factor != self.values[name][row])

    def put_row(self, values: Mapping[str, float | None], *, nulls_are_nan: bool) -> None:
        """Write values into the open row; a null counts as non-finite where the format says so."""
        own, row = self._own, self._at
        for raw, value in values.items():
            column = own.get(raw)
            if column is not None and len(column) == row and value is not None and value - value == 0:
                try:
                    column.append(value)
                    continue
                except OverflowError:
                    pass
            self._put(raw, value, self._target(raw, values), nulls_are_nan)

    def targets(self, block: Block) -> list[tuple[str, float]] | None:
        """Column and factor of each name of a block; None where that differs from row to row or two names meet."""
        place_of = {name: place for place, name in enumerate(block.names)}
        targets = [self._target(raw, place_of) for raw in block.names]
        for place, (raw, (name, _)) in enumerate(zip(block.names, targets, strict=True)):
            main = place_of.get(self.name(raw), place)
            if name == raw and main != place and (block.holds(place) & ~block.holds(main)).any():
                return None
        return targets if len({name for name, _ in targets}) == len(targets) else None

    def put_block(self, block: Block, targets: Sequence[tuple[str, float]], start: int, end: int) -> None:
        """Append rows [start, end) of a block to these columns."""
        import numpy as np

        first, values = self.rows, np.ascontiguousarray(block.values[start:end].T)
        held = values == values
        codes = [(row - start, place, code) for (row, place), code in block.codes.items() if start <= row < end]
        for row, place, _ in codes:
            held[place, row] = True
        some, every = held.any(axis=1), held.all(axis=1)
        self.rows += end - start
        for place, target in enumerate(targets):
            if some[place]:
                length = end - start if every[place] else int(np.flatnonzero(held[place])[-1]) + 1
                self._extend(target, first, values[place, :length], gaps=not every[place])
        for row, place, code in codes:
            self.codes.setdefault(targets[place][0], {})[first + row] = code
        self._at = self.rows - 1

    def _extend(self, target: tuple[str, float], first: int, values: np.ndarray, *, gaps: bool) -> None:
        """Values of one metric from row `first` on."""
        name, factor = target
        self._at = first - 1
        before = len(self.values.get(name, ()))
        column = self._column(name)
        if column is None:
            return
        column.frombytes((values if factor == 1.0 else values * factor).tobytes())
        if gaps or before < first:
            self._gaps.add(name)

    def put_late(self, row: int, values: Mapping[str, float | None], *, nulls_are_nan: bool) -> bool:
        """Write values into an earlier row, if these metrics have none there nor later; whether that was so."""
        columns = (self.values.get(self._target(raw, values)[0]) for raw in values)
        if any(column is not None and len(column) > row for column in columns):
            return False
        at, self._at = self._at, row
        self.put_row(values, nulls_are_nan=nulls_are_nan)
        self._at = at
        return True

    def _target(self, raw: str, values: Mapping[str, float | None]) -> tuple[str, float]:
        """Where a value of a row goes: under verl's name, or under its own where the row has that one too."""
        name, factor = self._resolve(raw)
        return (_column_name(raw), 1.0) if name != raw and name in values else (name, factor)

    def _put(self, raw: str, value: float | None, target: tuple[str, float], nulls_are_nan: bool) -> None:
        name, factor = target
        row = self._at
        if name != raw and self._holds(name, row):
            if not self._differs(name, factor, value):
                return
            name, factor = _column_name(raw), 1.0  # two aliases of one metric in a row: the second keeps its own name
        if value is None and not nulls_are_nan and not self._was_a_number(name):
            return
        code = SWALLOWED if value is None else _code(as_float(value))
        column = self._column(name)
        if column is None:
            return
        if code == FINITE:
            column[row] = as_float(value) * factor  # type: ignore[arg-type]
            self.codes.get(name, {}).pop(row, None)
        elif column[row] != column[row]:
            self.codes.setdefault(name, {})[row] = code

    def _column(self, name: str) -> array[float] | None:
        column = self.values.get(name)
        if column is None:
            if len(self.values) >= MAX_METRICS:
                self.dropped += 1
                return None
            column = self.values[name] = array("d")
        if self._names.get(name, ("", 1.0))[0] == name:
            self._own[name] = column
        missing = self._at + 1 - len(column)
        if missing > 0:
            column.extend([math.nan] * missing)
        if missing > 1:
            self._gaps.add(name)
        return column

    def _was_a_number(self, name: str) -> bool:
        """A null in a format that may write one for "not logged": a metric that had a number in each of the
        rows just before has lost one; a metric that had a null earlier is logged now and then."""
        row = self._at
        if name in self._sparse or row < SURE or not all(self._holds(name, row - back) for back in range(1, SURE + 1)):
            self._sparse.add(name)
            return False
        return True

    def _holds(self, name: str, row: int) -> bool:
        column = self.values.get(name)
        if column is None or len(column) <= row:
            return False
        return column[row] == column[row] or row in self.codes.get(name, ())

    def series(self, name: str) -> pl.Series:
        """One Float64 column, null where there is no finite value."""
        import numpy as np

        column = self.values[name]
        if len(column) < self.rows:
            column = column + array("d", [math.nan] * (self.rows - len(column)))
        elif name not in self._gaps and not self.codes.get(name):
            return pl.Series(name, np.array(column), dtype=pl.Float64)
        return pl.Series(name, np.array(column), dtype=pl.Float64).fill_nan(None)

    def flags(self, name: str) -> pl.Series:
        """One Int8 column of non-finite codes."""
        codes = bytearray(self.rows)
        for row, code in self.codes[name].items():
            codes[row] = code
        return pl.Series(name, list(codes), dtype=pl.Int8)
