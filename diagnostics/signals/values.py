"""Values: the latest, earlier ones, statistics over windows, elementwise functions, lists, what is not finite."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from klinic.diagnostics.signals import windows
from klinic.diagnostics.signals.block import Block
from klinic.diagnostics.signals.node import (
    ALWAYS,
    DENSE,
    Constant,
    Elementwise,
    Floats,
    Known,
    Metric,
    Node,
    OnValues,
    Stream,
    Value,
)
from klinic.diagnostics.signals.operators import finite
from klinic.diagnostics.signals.registry import Any_, Count, Default, Num, Window, signal


class Windowed(OnValues):
    """A kernel over the last `window` values; the state is the look-back."""

    def __init__(self, name: str, source: Node, window: int, kernel: windows.Kernel, least: int) -> None:
        super().__init__(f"{name}({source.key}, {window})", (source,))
        self.window, self.kernel, self.least = window, kernel, min(least, window)

    def begin(self) -> Floats:
        """No values yet."""
        return np.empty(0)

    def fold(self, new: Known, state: Floats) -> tuple[Floats, Floats]:
        """Roll over look-back and new values."""
        joined = np.concatenate([state, new.values])
        out = windows.rolling(joined, len(state), self.window, self.least, self.kernel)
        return out, joined[max(0, len(joined) - self.window + 1) :]


class Fold(OnValues):
    """A fold value by value: `step(state, value) -> (state, result)`; the state must be fresh or immutable."""

    def __init__(self, key: str, source: Node, begin: Any, step: Callable[[Any, float], tuple[Any, float]]) -> None:
        super().__init__(key, (source,))
        self.initial, self.step = begin, step

    def begin(self) -> Any:
        """The state before the first value."""
        return self.initial() if callable(self.initial) else self.initial

    def fold(self, new: Known, state: Any) -> tuple[Floats, Any]:
        """Go through the new values in order."""
        out = np.empty(len(new.values))
        for index, value in enumerate(new.values.tolist()):
            state, out[index] = self.step(state, value)
        return out, state


class Accumulated(OnValues):
    """A running total, minimum or maximum over all values so far."""

    def __init__(self, name: str, source: Node, accumulate: Callable[[Floats], Floats]) -> None:
        super().__init__(f"{name}({source.key}, run)", (source,))
        self.accumulate = accumulate

    def fold(self, new: Known, state: float | None) -> tuple[Floats, float | None]:
        """Accumulate from the last result on."""
        if not len(new.values):
            return new.values, state
        joined = new.values if state is None else np.concatenate([[state], new.values])
        out = self.accumulate(joined)[0 if state is None else 1 :]
        return out, float(out[-1])


def windowed(
    name: str, m: Node, w: int | None, kernel: windows.Kernel, run: Callable[[], Node], least: int = 0
) -> Node:
    """The windowed signal, or the fold where the window is the whole run."""
    return run() if w is None else Windowed(name, m, w, kernel, least or windows.minimum(w))


@signal
def last(m: Any_) -> Node:
    """The value at the row, a sparse metric's last value."""
    return m


class Previous(Windowed):
    """The value k values earlier."""

    def __init__(self, source: Node, k: int) -> None:
        super().__init__("prev", source, k + 1, lambda rows: rows[:, 0], k + 1)


@signal
def prev(m: Num, k: Count = 1) -> Node:
    """The value k values earlier."""
    return Previous(m, k)


class First(OnValues):
    """Median of the first k values; constant once they are there."""

    def __init__(self, source: Node, k: int) -> None:
        super().__init__(f"first({source.key}, {k})", (source,))
        self.k = k

    def begin(self) -> Floats:
        """No values yet."""
        return np.empty(0)

    def fold(self, new: Known, state: Floats) -> tuple[Floats, Floats]:
        """Unknown up to the k-th value."""
        lacking = self.k - len(state)
        state = np.concatenate([state, new.values[: max(lacking, 0)]])
        out = np.full(len(new.values), np.nan)
        if len(state) == self.k:
            out[max(lacking - 1, 0) :] = windows.median(state[None, :])[0]
        return out, state


@signal
def first(m: Num, k: Count = 1) -> Node:
    """Median of the first k values."""
    return First(m, k)


def _running_median(m: Node) -> Node:
    def step(state: list[float], value: float) -> tuple[list[float], float]:
        bisect.insort(state, value)
        middle = len(state) // 2
        odd = len(state) % 2
        return state, state[middle] if odd else (state[middle - 1] + state[middle]) / 2

    return Fold(f"med({m.key}, run)", m, list, step)


@signal
def med(m: Num, w: Window) -> Node:
    """Median over the last w values."""
    return windowed("med", m, w, windows.median, lambda: _running_median(m))


@signal
def sum_(m: Num, w: Window) -> Node:
    """Sum over the last w values."""
    return windowed("sum", m, w, windows.total, lambda: Accumulated("sum", m, np.cumsum), 1)


@signal
def mean(m: Num, w: Window) -> Node:
    """Mean over the last w values."""

    def run() -> Node:
        return Elementwise(f"mean({m.key}, run)", (sum_(m, None), count(m)), _ratio)

    return windowed("mean", m, w, windows.mean, run)


def _ratio(total: Value, number: Value) -> Value:
    return finite(total / number)


@signal
def min_(m: Num, w: Window) -> Node:
    """Smallest of the last w values."""
    return windowed("min", m, w, _lowest_of, lambda: Accumulated("min", m, np.minimum.accumulate), 1)


@signal
def max_(m: Num, w: Window) -> Node:
    """Largest of the last w values."""
    return windowed("max", m, w, _highest_of, lambda: Accumulated("max", m, np.maximum.accumulate), 1)


def _lowest_of(rows: Floats) -> Floats:
    return np.asarray(rows.min(axis=1))


def _highest_of(rows: Floats) -> Floats:
    return np.asarray(rows.max(axis=1))


@signal
def std(m: Num, w: Window) -> Node:
    """Standard deviation of the last w values."""
    return windowed("std", m, w, windows.deviation, lambda: _running_std(m))


def _running_std(m: Node) -> Node:
    def step(state: tuple[int, float, float], value: float) -> tuple[tuple[int, float, float], float]:
        n, centre, spread = state
        n += 1
        moved = centre + (value - centre) / n
        spread += (value - centre) * (value - moved)
        return (n, moved, spread), math.sqrt(max(spread, 0.0) / (n - 1)) if n > 1 else math.nan

    return Fold(f"std({m.key}, run)", m, (0, 0.0, 0.0), step)


def _elementwise(
    name: str, x: Node, series: Callable[[pl.Series], pl.Series], scalar: Callable[[float], float]
) -> Node:
    def apply(value: Value) -> Value:
        if value is None:
            return None
        if isinstance(value, pl.Series):
            return finite(series(value))
        try:
            return finite(scalar(value))
        except (ValueError, OverflowError):
            return None

    return Elementwise(f"{name}({x.key})", (x,), apply)


@signal
def abs_(x: Num) -> Node:
    """Absolute value."""
    return _elementwise("abs", x, pl.Series.abs, abs)


@signal
def log(x: Num) -> Node:
    """Natural logarithm; unknown for zero or less."""
    return _elementwise("log", x, pl.Series.log, math.log)


@signal
def sqrt(x: Num) -> Node:
    """Square root; unknown below zero."""
    return _elementwise("sqrt", x, pl.Series.sqrt, math.sqrt)


@signal
def exp(x: Num) -> Node:
    """Exponential."""
    return _elementwise("exp", x, pl.Series.exp, math.exp)


def _first_known(height: int, *values: Value) -> Value:
    result = values[0]
    for value in values[1:]:
        if result is None:
            result = value
        elif isinstance(result, pl.Series) and value is not None:
            filler = value if isinstance(value, pl.Series) else pl.repeat(value, height, eager=True, dtype=result.dtype)
            result = result.zip_with(result.is_not_null(), filler)
    return result


@signal
def coalesce(*x: Any_) -> Node:
    """The first one known."""
    if not x:
        raise ValueError("coalesce wants at least one argument")
    return Elementwise(f"coalesce({', '.join(p.key for p in x)})", x, _first_known, x[0].kind, rows=True)


@signal
def fill(x: Any_, default: Default) -> Node:
    """The default where unknown."""
    return coalesce(x, Constant(float(default) if type(default) is int else default))


def _extreme(name: str, x: tuple[Node, ...]) -> Node:
    if not x:
        raise ValueError(f"{name} wants at least one argument")
    pick = pl.min_horizontal if name == "lowest" else pl.max_horizontal

    def apply(height: int, *values: Value) -> Value:
        if not any(isinstance(value, pl.Series) for value in values):
            known = [value for value in values if value is not None]
            return (min(known) if name == "lowest" else max(known)) if known else None
        columns = [
            v if isinstance(v, pl.Series) else pl.repeat(v, height, eager=True, dtype=pl.Float64) for v in values
        ]
        named = [column.alias(str(i)) for i, column in enumerate(columns)]
        return pl.DataFrame(named).select(pick(pl.all())).to_series()

    return Elementwise(f"{name}({', '.join(p.key for p in x)})", x, apply, rows=True)


@signal
def lowest(*x: Num) -> Node:
    """Smallest of the known ones."""
    return _extreme("lowest", x)


@signal
def highest(*x: Num) -> Node:
    """Largest of the known ones."""
    return _extreme("highest", x)


class Flags(Node):
    """1 where a metric was written and not finite, 0 where it was finite, unknown where it was not written."""

    def __init__(self, metric: str) -> None:
        super().__init__(f"flags({metric!r})", rank=Metric(metric).rank)
        self.metric = metric
        self.metrics = frozenset([metric])

    def advance(self, block: Block, args: list[Stream], state: Any) -> tuple[Stream, Any]:
        """Flags over the block."""
        seen = block.seen(self.metric)
        values = block.flagged(self.metric).cast(pl.Float64).set(~seen, None)
        return Stream(values, seen if self.rank != DENSE else None), None


@signal
def nonfinite(m: Num, w: Window = 1) -> Node:
    """Number of non-finite values among the last w values, those counted in."""
    if not isinstance(m, Metric):
        raise ValueError("nonfinite wants one metric in quotes")
    return sum_(Flags(m.name), w)


class Presence(Node):
    """How many values (finite, or written at all) a stream has had so far; known at every row."""

    def __init__(self, key: str, source: Node, *, written: bool, result: Callable[[pl.Series], pl.Series]) -> None:
        super().__init__(key, (source,), rank=ALWAYS)
        self.written, self.result = written, result
        self.kind = "truth" if written else "number"

    def start(self) -> int:
        """None seen."""
        return 0

    def advance(self, block: Block, args: list[Stream], state: int) -> tuple[Stream, Any]:
        """Running count."""
        child = self.children[0]
        if self.written and isinstance(child, Metric):
            mask = block.seen(child.name)
        else:
            mask = args[0].known(block.height, pl.Boolean if child.kind == "truth" else pl.Float64)
        counted = mask.cast(pl.Float64).cum_sum() + state
        return Stream(self.result(counted)), (int(counted[-1]) if len(counted) else state)


@signal
def absent(m: Any_) -> Node:
    """The run has never had this metric up to here."""
    return Presence(f"absent({m.key})", m, written=True, result=lambda counted: counted == 0)


@signal
def count(m: Any_) -> Node:
    """Number of finite values so far."""
    return Presence(f"count({m.key})", m, written=False, result=lambda counted: counted)
