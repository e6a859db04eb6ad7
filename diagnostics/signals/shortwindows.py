"""The kernels of `windows` over one short window, without arrays: a run that is followed grows by single values.

Each gives what its kernel gives, bit for bit: the same additions in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

from klinic.diagnostics.signals import windows

Values = Sequence[float]


def median(values: Values) -> float:
    """Median."""
    ordered, middle = sorted(values), len(values) // 2
    return (ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2) + 0.0


def mad(values: Values) -> float:
    """1.4826 times the median absolute deviation."""
    centre = median(values)
    return 1.4826 * median([abs(value - centre) for value in values])


def total(values: Values) -> float:
    """Sum, halves added pair by pair."""
    while len(values) > 1:
        half = len(values) // 2
        even = [one + other for one, other in zip(values[:half], values[half : 2 * half], strict=True)]
        values = [*even, values[-1]] if len(values) % 2 else even
    return values[0]


def mean(values: Values) -> float:
    """Mean."""
    return total(values) / len(values)


def _centred(values: Values) -> list[float]:
    centre = mean(values)
    return [value - centre for value in values]


def deviation(values: Values) -> float:
    """Standard deviation (n - 1)."""
    return math.sqrt(total([value * value for value in _centred(values)]) / max(len(values) - 1, 1))


@cache
def _ramp(width: int) -> tuple[tuple[float, ...], float]:
    """A straight line through 0, and the sum of its squares."""
    ramp = windows.ramp(width)
    return tuple(ramp.tolist()), float((ramp * ramp).sum())


def line(values: Values) -> float:
    """Change along the least squares line, in the values' unit."""
    ramp, squares = _ramp(len(values))
    along = [value * at for value, at in zip(_centred(values), ramp, strict=True)]
    return total(along) / squares * len(values)


def straightness(values: Values) -> float:
    """Share of the variance that the straight line explains; NaN for constant values."""
    (ramp, squares), centred = _ramp(len(values)), _centred(values)
    spread = total([value * value for value in centred])
    along = total([value * at for value, at in zip(centred, ramp, strict=True)])
    if not spread > 1e-24 * total([value * value for value in values]):
        return math.nan
    return min(along * along / squares / spread, 1.0)


def jitter(values: Values) -> float:
    """Noise: 1.4826 MAD of the first differences over the square root of two."""
    return mad([after - before for before, after in pairwise(values)]) / math.sqrt(2.0)


def lowest(values: Values) -> float:
    """Smallest."""
    return min(values) + 0.0


def highest(values: Values) -> float:
    """Largest."""
    return max(values) + 0.0


def oldest(values: Values) -> float:
    """The first one."""
    return values[0]


_SAME: dict[windows.Kernel, Callable[[Values], float]] = {
    windows.median: median,
    windows.mad: mad,
    windows.total: total,
    windows.mean: mean,
    windows.deviation: deviation,
    windows.line: line,
    windows.straightness: straightness,
    windows.jitter: jitter,
    windows.lowest: lowest,
    windows.highest: highest,
    windows.oldest: oldest,
}


def alone(kernel: windows.Kernel, window: int) -> Callable[[Values], float] | None:
    """What gives the kernel's result over one window; None where the window is long enough for arrays to be quicker."""
    return _SAME.get(kernel) if window <= windows.SHORT else None
