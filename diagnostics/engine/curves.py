"""Small arithmetic on a metric's values that vital signs, severities and reports share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import median


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of at least one finite value; finite also where the sum would not be."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(value / len(values) for value in values)


def thinned(values: Sequence[float | None], cells: int) -> list[float | None]:
    """At most `cells` values: means of equal stretches, None for a stretch without a value."""
    if len(values) <= cells:
        return list(values)
    edges = [round(cell * len(values) / cells) for cell in range(cells + 1)]
    groups = ([v for v in values[a:b] if v is not None] for a, b in itertools.pairwise(edges))
    return [mean(group) if group else None for group in groups]


def noise(values: Sequence[float]) -> float:
    """Scatter of single values around a slow trend, in their unit: 1.4826 MAD of first differences / sqrt(2)."""
    jumps = [later - earlier for earlier, later in itertools.pairwise(values)]
    if not jumps:
        return 0.0
    middle = median(jumps)
    return 1.4826 * median(abs(jump - middle) for jump in jumps) / math.sqrt(2)
