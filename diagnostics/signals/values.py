"""Values: the latest, earlier ones, statistics over windows, elementwise functions, lists, what is not finite."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from klinic.diagnostics.signals import windows
from klinic.diagnostics.signals.block import Block, Floats
from klinic.diagnostics.signals.node import Known, Node, OnValues
from klinic.diagnostics.signals.registry import Any_, Count, Num, Window, signal
from klinic.diagnostics.signals.shortwindows import alone, median

Lookback = Floats | list[float]  # a list while rows come one by one


class Windowed(OnValues):
    """A kernel over the last `window` values; the state is the look-back."""

    def __init__(self, name: str, source: Node, window: int, kernel: windows.Kernel, least: int) -> None:
        super().__init__(f"{name}({source.key}, {window})", (source,))
        self.window, self.kernel, self.least = window, kernel, min(least, window)
        self.alone = alone(kernel, window)

    def begin(self) -> Lookback:
        """No values yet."""
        return np.empty(0)

    def fold(self, new: Known, state: Lookback) -> tuple[Floats, Lookback]:
        """Roll over look-back and new values."""
        joined = np.concatenate([state, new.values])
        out = windows.rolling(joined, len(state), self.window, self.least, self.kernel)
        return out, joined[max(0, len(joined) - self.window + 1) :]

    def fold_one(self, value: float, block: Block, state: Lookback) -> tuple[float, Lookback]:
        """One window, the look-back and the value."""
        if self.alone is None:
            joined = np.concatenate([state, [value]])
            result = float(self.kernel(joined[None])[0]) if len(joined) >= self.least else math.nan
            return result, joined[1:] if len(joined) == self.window else joined
        values = [*listed(state), value]
        result = self.alone(values) if len(values) >= self.least else math.nan
        return result, values[1:] if len(values) == self.window else values


def listed(state: Lookback) -> list[float]:
    """A look-back as a list, which nobody changes in place."""
    return state.tolist() if isinstance(state, np.ndarray) else state


class Fold(OnValues):
    """A fold value by value: `step(state, value) -> (state, result)`; the state is immutable, or a list."""

    def __init__(self, key: str, source: Node, begin: Any, step: Callable[[Any, float], tuple[Any, float]]) -> None:
        super().__init__(key, (source,))
        self.initial, self.step = begin, step

    def begin(self) -> Any:
        """The state before the first value."""
        return self.initial() if callable(self.initial) else self.initial

    def fork(self, state: Any) -> Any:
        """A list is copied, whatever else `step` keeps is not changed in place."""
        inner, carry = state
        return (inner.copy() if isinstance(inner, list) else inner), carry

    def fold(self, new: Known, state: Any) -> tuple[Floats, Any]:
        """Go through the new values in order."""
        out = np.empty(len(new.values))
        for index, value in enumerate(new.values.tolist()):
            state, out[index] = self.step(state, value)
        return out, state

    def fold_one(self, value: float, block: Block, state: Any) -> tuple[float, Any]:
        """One step."""
        state, result = self.step(state, value)
        return result, state


class Accumulated(OnValues):
    """A running total, minimum or maximum over all values so far."""

    def __init__(self, name: str, source: Node, taken: np.ufunc) -> None:
        super().__init__(f"{name}({source.key}, run)", (source,))
        self.taken = taken

    def fold(self, new: Known, state: float | None) -> tuple[Floats, float | None]:
        """Accumulate from the last result on."""
        if not len(new.values):
            return new.values, state
        joined = new.values if state is None else np.concatenate([[state], new.values])
        out = self.taken.accumulate(joined)[0 if state is None else 1 :] + 0.0
        return out, float(out[-1])

    def fold_one(self, value: float, block: Block, state: float | None) -> tuple[float, float]:
        """One more value."""
        result = (value if state is None else float(self.taken(state, value))) + 0.0
        return result, result


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
        super().__init__("prev", source, k + 1, windows.oldest, k + 1)


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

    def fold_one(self, value: float, block: Block, state: Floats) -> tuple[float, Floats]:
        """The same median again once there are k values."""
        if len(state) < self.k:
            return super().fold_one(value, block, state)
        return median(state.tolist()), state


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
    return windowed("sum", m, w, windows.total, lambda: Accumulated("sum", m, np.add), 1)


class RunningMean(OnValues):
    """Mean of all values so far. State: (number of values, their sum)."""

    def __init__(self, source: Node) -> None:
        super().__init__(f"mean({source.key}, run)", (source,))

    def begin(self) -> tuple[int, float]:
        """Nothing seen."""
        return 0, 0.0

    def fold(self, new: Known, state: tuple[int, float]) -> tuple[Floats, tuple[int, float]]:
        """Running sum over running number."""
        number, total = state
        sums = np.cumsum(np.concatenate([[total], new.values]))[1:]
        after = (number + len(sums), float(sums[-1]) if len(sums) else total)
        return sums / np.arange(number + 1, after[0] + 1), after


@signal
def mean(m: Num, w: Window) -> Node:
    """Mean over the last w values."""
    return windowed("mean", m, w, windows.mean, lambda: RunningMean(m))


@signal
def min_(m: Num, w: Window) -> Node:
    """Smallest of the last w values."""
    return windowed("min", m, w, windows.lowest, lambda: Accumulated("min", m, np.minimum), 1)


@signal
def max_(m: Num, w: Window) -> Node:
    """Largest of the last w values."""
    return windowed("max", m, w, windows.highest, lambda: Accumulated("max", m, np.maximum), 1)


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
