"""Small arithmetic on a metric's values that vital signs, severities and reports share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
MANY = 50  # values of a stretch above which its mean is worked out the quick way


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of at least one finite value; finite also where the sum would not be."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(value / len(values) for value in values)


def thinned(known: Sequence[float | None] | Floats, cells: int) -> list[float | None]:
    """At most `cells` values: means of equal stretches (None and NaN are no value), None where there is none."""
    values = np.asarray(known, np.float64)
    if len(values) <= cells:
        return [value if value == value else None for value in values.tolist()]
    edges = [round(cell * len(values) / cells) for cell in range(cells + 1)]
    with np.errstate(all="ignore"):
        quick = (np.add.reduceat(values, edges[:-1]) / np.diff(edges)).tolist()
    groups = itertools.pairwise(edges)
    return [
        one if math.isfinite(one) and b - a > MANY else _mean_of(values[a:b])
        for one, (a, b) in zip(quick, groups, strict=True)
    ]


def _mean_of(values: Floats) -> float | None:
    """The mean of what is no NaN, exact up to the last bit."""
    known = values[~np.isnan(values)]
    return mean(known.tolist()) if len(known) else None


def median_of(known: Sequence[float] | Floats) -> float:
    """Median of at least one value, as `statistics.median` has it."""
    values = np.asarray(known)
    half = len(values) // 2
    parts = np.partition(values, (half - 1, half) if half else half)
    return float(parts[half]) if len(values) % 2 else (float(parts[half - 1]) + float(parts[half])) / 2


def noise(values: Sequence[float] | Floats) -> float:
    """Scatter of single values around a slow trend, in their unit: 1.4826 MAD of first differences / sqrt(2)."""
    with np.errstate(all="ignore"):
        jumps = np.diff(np.asarray(values, np.float64))
        return 1.4826 * median_of(np.abs(jumps - median_of(jumps))) / math.sqrt(2) if len(jumps) else 0.0
