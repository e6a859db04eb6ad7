"""Against the run itself: its own baseline, robust scores, best and peak."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from klinic.diagnostics.signals import shortwindows, windows
from klinic.diagnostics.signals.block import Block, Floats
from klinic.diagnostics.signals.node import ALWAYS, Known, Metric, Node, OnValues
from klinic.diagnostics.signals.operators import arithmetic
from klinic.diagnostics.signals.place import stepped
from klinic.diagnostics.signals.registry import Bound, Count, Num, Truth, Window, signal
from klinic.diagnostics.signals.stream import Stream
from klinic.diagnostics.signals.values import Accumulated, Fold, Lookback, listed, med, windowed

LENGTH, WARM_UP, SHORT_RUN, LEAST = 20, 5, 40, 5
_SWING = 4.0  # halves of a trusted baseline window lie within this factor of each other


def baseline_window(block: Block) -> tuple[int, int]:
    """(values to skip, values to take): 20 after warm-up, values 3 to 10 where the plan is under 40 steps."""
    total = block.fact("total_steps")
    if total is not None and total < SHORT_RUN:
        return 2, 8
    warm = max(WARM_UP, int(block.fact("lr_warmup_steps") or 0), int(block.fact("critic_warmup") or 0))
    return (min(warm, max(WARM_UP, int(total) // 4)) if total is not None else warm), LENGTH


def _median(values: Floats) -> float:
    return float(windows.median(values[None, :])[0])


def trusted(window: Floats) -> bool:
    """A sane window: its halves agree within a factor of four, or within three times its own scatter."""
    middle = len(window) // 2
    early, late = _median(window[:middle]), _median(window[middle:])
    scatter = float(windows.jitter(window[None, :])[0])
    if abs(late - early) <= 3 * scatter:
        return True
    if not early * late > 0:  # of unlike signs, zero, or beyond a float's range
        return False
    ratio = late / early
    return 1 / _SWING <= ratio <= _SWING


class Base(OnValues):
    """State: (values seen, values of the window, result once the window is full)."""

    def __init__(self, m: Node, floor: float | None, ceiling: float | None) -> None:
        super().__init__(f"base({m.key}, {floor}, {ceiling})", (m,))
        self.floor, self.ceiling = floor, ceiling

    def begin(self) -> tuple[int, tuple[float, ...], float | None]:
        """Nothing seen."""
        return 0, (), None

    def fold(self, new: Known, state: Any) -> tuple[Floats, Any]:
        """The level so far at each value; constant once the window is full."""
        seen, window, level = state
        skip, length = baseline_window(new.block)
        out = np.empty(len(new.values))
        for index, value in enumerate(new.values.tolist()):
            if level is not None:
                out[index:] = level
                return out, (seen, window, level)
            seen += 1
            if seen > skip:
                window = (*window, value)
            out[index] = self._level(window)
            level = out[index] if len(window) >= length else None
        return out, (seen, window, level)

    def fold_one(self, value: float, block: Block, state: Any) -> tuple[float, Any]:
        """The level, once the window is full."""
        level = state[2]
        return (float(level), state) if level is not None else super().fold_one(value, block, state)

    def _level(self, window: tuple[float, ...]) -> float:
        values = np.asarray(window)
        if len(values) < LEAST or not trusted(values):
            return math.nan if self.floor is None else self.floor
        level = _median(values)
        level = level if self.floor is None else max(level, self.floor)
        return level if self.ceiling is None else min(level, self.ceiling)


@signal
def base(m: Num, floor: Bound = None, ceiling: Bound = None) -> Node:
    """The run's own level: median over the baseline window, clamped to [floor, ceiling]."""
    if floor is not None and ceiling is not None and floor > ceiling:
        raise ValueError(f"floor {floor:g} lies above ceiling {ceiling:g}")
    return Base(m, floor, ceiling)


@signal
def rel(m: Num, w: Window, floor: Bound = None, ceiling: Bound = None) -> Node:
    """med(m, w) / base(m, floor, ceiling)."""
    return arithmetic("/", med(m, w), base(m, floor, ceiling))


class Score(OnValues):
    """(last - median) / (1.4826 MAD) over the values before it; the state is the look-back."""

    LEAST = 20

    def __init__(self, m: Node, w: int) -> None:
        super().__init__(f"z({m.key}, {w})", (m,))
        self.window = w

    def begin(self) -> Lookback:
        """No values yet."""
        return np.empty(0)

    def fold(self, new: Known, state: Lookback) -> tuple[Floats, Lookback]:
        """Score of each new value against the window before it."""
        joined = np.concatenate([state, new.values])
        least = min(self.LEAST, self.window)
        before = len(state)
        centre = self._shifted(joined, before, windows.median, least)
        spread = self._shifted(joined, before, windows.mad, least)
        floor = max(1e-12, self._precision(new.block))
        out = (new.values - centre) / np.maximum(spread, floor)
        return out, joined[max(0, len(joined) - self.window) :]

    def fold_one(self, value: float, block: Block, state: Lookback) -> tuple[float, Lookback]:
        """One value against the window before it."""
        if self.window > windows.SHORT:
            return super().fold_one(value, block, state)
        before = listed(state)
        after = [*before, value][-self.window :]
        if len(before) < min(self.LEAST, self.window):
            return math.nan, after
        spread = max(shortwindows.mad(before), 1e-12, self._precision(block))
        return (value - shortwindows.median(before)) / spread, after

    def _shifted(self, joined: Floats, before: int, kernel: windows.Kernel, least: int) -> Floats:
        """Window statistics ending one value earlier than each new value."""
        ends = windows.rolling(joined, 0 if before == 0 else before - 1, self.window, least, kernel)
        return np.concatenate([[math.nan], ends[:-1]]) if before == 0 else ends[:-1]

    def _precision(self, block: Block) -> float:
        source = self.children[0]
        if not isinstance(source, Metric):
            return 0.0
        digits = block.run.decimals.get(source.name)
        return 0.0 if digits is None else 0.5 * 10.0**-digits


@signal
def z(m: Num, w: Count = 50) -> Node:
    """How many robust standard deviations the value lies from the w values before it."""
    return Score(m, w)


_LOWER = ("loss", "perplexity", "ppl", "error", "wer")


def lower_is_better(m: Node) -> bool:
    """Direction of a metric by the words of its name; scores, rewards and rates want to rise."""
    return isinstance(m, Metric) and any(m.name.rsplit("/", 1)[-1].lower().endswith(word) for word in _LOWER)


@signal
def best(m: Num, k: Count = 10) -> Node:
    """Best k-value mean so far (the lowest where lower is better)."""
    means = windowed("mean", m, k, windows.mean, lambda: m, 1 if k == 1 else 0)
    return Accumulated("best", means, np.minimum if lower_is_better(m) else np.maximum)


@signal
def peak(m: Num) -> Node:
    """Largest value so far."""
    return Accumulated("peak", m, np.maximum)


@signal
def since_best(m: Num, k: Count = 10) -> Node:
    """Values since `best` last rose."""

    def step(state: tuple[float, int], value: float) -> tuple[tuple[float, int], float]:
        state = (value, 0) if value != state[0] else (value, state[1] + 1)
        return state, float(state[1])

    source = best(m, k)
    return Fold(f"since({source.key})", source, (math.nan, 0), step)


class FirstSeen(Node):
    """The step at which a condition first held; known at every row from then on."""

    def __init__(self, p: Node) -> None:
        super().__init__(f"first_seen({p.key})", (p,), rank=ALWAYS)

    def advance(self, block: Block, args: Sequence[Stream], state: float | None) -> tuple[Stream, Any]:
        """Find the first true row, if it has not come yet."""
        if state is not None:
            return Stream(state), state
        if block.height == 1 and not (args[0].is_known and args[0].number > 0.5):
            return Stream(None), None
        held = np.flatnonzero((args[0].array(block.height) > 0.5) & args[0].known(block.height))
        if not len(held):
            return Stream(None), None
        step = float(block.steps[int(held[0])])
        return Stream(stepped(block.height, int(held[0]), step)), step


@signal
def first_seen(p: Truth) -> Node:
    """The step at which P first held, unknown before."""
    return FirstSeen(p)
