"""Metrics by column while rows arrive: which column a value belongs to, and what it means there."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from klinic.diagnostics.run.cells import Cells
from klinic.diagnostics.run.events import Block
from klinic.diagnostics.run.model import FINITE, FIXED, MINUS_INF, NAN, PLUS_INF, SWALLOWED
from klinic.diagnostics.run.trackers import OURS
from klinic.diagnostics.run.units import unit

if TYPE_CHECKING:
    import numpy as np

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
    return f"metric/{name}" if name in FIXED else name.encode("utf-8", "replace").decode()


class Columns(Cells):
    """The metrics of the rows so far; what klinic itself wrote back among them is left out.

    rename: name as written -> name of the column.
    """

    def __init__(self, rename: Callable[[str], str]) -> None:
        super().__init__()
        self._sparse: set[str] = set()
        self._rename = rename
        self._names: dict[str, tuple[str, float]] = {}
        self._own: dict[str, array[float]] = {}  # open columns whose metric is written under verl's own name

    def fork(self, rename: Callable[[str], str]) -> Columns:
        """A copy that can grow without touching this one."""
        other = Columns(rename)
        self.copy_to(other)
        other._sparse, other._names = set(self._sparse), dict(self._names)
        other._own = {name: other._values[name] for name in self._own}
        return other

    def _forget(self, base: int) -> None:
        super()._forget(base)
        self._own = {name: self._values[name] for name in self._own}

    def name(self, raw: str) -> str:
        """The column's name for a name as written."""
        return self._resolve(raw)[0]

    def _resolve(self, raw: str) -> tuple[str, float]:
        """The column of a name as written, and the factor of the unit that the name carries."""
        known = self._names.get(raw)
        if known is None:
            name = raw if raw.startswith(OURS) else self._rename(raw)
            known = self._names[raw] = _column_name(name), unit(raw)
        return known

    def forget_names(self) -> None:
        """The framework became known: names are mapped anew from here on."""
        self._names.clear()
        self._own.clear()

    def conflicts(self, values: Mapping[str, float | None]) -> bool:
        """Whether the open row holds another value already for one of these metrics."""
        return any(self._differs(*self._target(raw, values), value) for raw, value in values.items())

    def _differs(self, name: str, factor: float, value: float | None) -> bool:
        cell, code = self._cell(name, self._at)
        if code:
            return value is not None and _code(as_float(value)) != code
        return cell == cell and (value is None or as_float(value) * factor != cell)

    def put_row(self, values: Mapping[str, float | None], *, nulls_are_nan: bool) -> None:
        """Write values into the open row; a null counts as non-finite where the format says so."""
        own, open_row = self._own, self._at - self._base
        for raw, value in values.items():
            column = own.get(raw)
            if column is not None and len(column) == open_row and value is not None and value - value == 0:
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

        first, values = self.rows, block.values[start:end].T
        values = values if values.strides[1] == values.itemsize else np.ascontiguousarray(values)
        held = values == values
        codes = [(row - start, place, code) for (row, place), code in block.codes.items() if start <= row < end]
        for row, place, _ in codes:
            held[place, row] = True
        some, every = held.any(axis=1), held.all(axis=1)
        self.rows += end - start
        for place, target in enumerate(targets):
            if some[place]:
                length = end - start if every[place] else int(np.flatnonzero(held[place])[-1]) + 1
                self._extend(target, first, values[place, :length])
        for row, place, code in codes:
            self._codes.setdefault(targets[place][0], {})[first + row] = code
        self._at = self.rows - 1

    def _extend(self, target: tuple[str, float], first: int, values: np.ndarray) -> None:
        """Values of one metric from row `first` on."""
        name, factor = target
        self._at = first - 1
        column = self._column(name)
        if column is not None:
            column.frombytes((values if factor == 1.0 else values * factor).data.cast("B"))

    def put_late(self, row: int, values: Mapping[str, float | None], *, nulls_are_nan: bool) -> bool:
        """Write values into an earlier row, if these metrics have none there nor later; whether that was so."""
        if any(self._end(self._target(raw, values)[0]) > row for raw in values):
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
        at = row - self._starts.get(name, self._base)
        if code == FINITE:
            column[at] = as_float(value) * factor  # type: ignore[arg-type]
            self._codes.get(name, {}).pop(row, None)
        elif column[at] != column[at]:
            self._codes.setdefault(name, {})[row] = code

    def _was_a_number(self, name: str) -> bool:
        """A null in a format that may write one for "not logged": a metric that had a number in each of the
        rows just before has lost one; a metric that had a null earlier is logged now and then."""
        row = self._at
        if name in self._sparse or row < SURE or not all(self._holds(name, row - back) for back in range(1, SURE + 1)):
            self._sparse.add(name)
            return False
        return True

    def _column(self, name: str) -> array[float] | None:
        """The column, filled up to the row that is written; None for what is left out."""
        column = None if name.startswith(OURS) else self._filled(name)
        if name in self._starts:
            self._own.pop(name, None)
        elif column is not None and self._names.get(name, ("", 1.0))[0] == name:
            self._own[name] = column
        return column
