"""How many rows a rate was counted over, told by its values: 0.4333 and 0.6 are thirteen and eighteen of thirty.

The smallest number of which all values so far are shares grows to the true one within a few values, and from below, so
that a standard error from it is too large at first, never too small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from klinic.diagnostics.signals.block import Block, Floats
from klinic.diagnostics.signals.node import Known, Metric, OnValues

NUMBERS = np.arange(1, 5001, dtype=np.float64)  # of rows that are tried
CHANCE = 0.02  # that values which are no shares look like shares of as many rows or fewer
ENOUGH = 50  # different values: by then the number is told or will never be
ROUNDED = (10, 100, 1000)  # of which all values rounded to some digits are shares, whatever they were counted over


def rows_behind(values: Iterable[float], digits: int | None = None) -> float:
    """Rows that all these rates are shares of, NaN where nothing tells. digits: printed after the point."""
    return _rows(tuple(dict.fromkeys(values))[:ENOUGH], digits)


@lru_cache(maxsize=256)
def _rows(values: tuple[float, ...], digits: int | None) -> float:
    """The smallest number that fits; NaN where none does, or luck may have made it fit."""
    if not all(0 <= value <= 1 for value in values):
        return math.nan
    telling = [value for value in values if value not in (0, 1)]
    fitting = np.full(len(NUMBERS), True)
    for value in telling:
        parts = NUMBERS * value
        fitting &= np.abs(parts - np.round(parts)) <= NUMBERS * _error(value, digits)
    number = float(NUMBERS[int(np.argmax(fitting))])
    luck = math.prod((min(1.0, 2 * _error(value, digits) * number) for value in telling), start=number)
    lucky = bool(telling) and luck >= CHANCE
    return math.nan if not fitting.any() or number in ROUNDED or lucky else number


def _error(value: float, digits: int | None) -> float:
    """How far off a value may be: by its printed digits, or by the bits of its float."""
    if digits is not None:
        return 0.5 * 10.0**-digits
    return 2.0**-24 if float(np.float32(value)) == value else 1e-12


class Grain(OnValues):
    """Rows behind a metric that is a rate, as far as its values so far tell; 0 where nothing does."""

    def __init__(self, name: str) -> None:
        super().__init__(f"grain({name!r})", (Metric(name),))
        self.name = name

    def begin(self) -> tuple[float, ...]:
        """No values yet."""
        return ()

    def fold(self, new: Known, state: tuple[float, ...]) -> tuple[Floats, tuple[float, ...]]:
        """Value by value."""
        out = np.empty(len(new.values))
        for index, value in enumerate(new.values.tolist()):
            out[index], state = self.fold_one(value, new.block, state)
        return out, state

    def fold_one(self, value: float, block: Block, state: tuple[float, ...]) -> tuple[float, tuple[float, ...]]:
        """One more value; the state holds those that differ, as far as they are needed."""
        if value not in state and len(state) < ENOUGH:
            state = (*state, value)
        rows = _rows(state, block.run.decimals.get(self.name))
        return (0.0 if math.isnan(rows) else rows), state
