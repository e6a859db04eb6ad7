"""Small arithmetic on a metric's values that vital signs, severities and reports share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import fmean, median


def thinned(values: Sequence[float | None], cells: int) -> list[float | None]:
    """At most `cells` values: means of equal stretches, None for a stretch without a value."""
    if len(values) <= cells:
        return list(values)
    edges = [round(cell * len(values) / cells) for cell in range(cells + 1)]
    groups = ([v for v in values[a:b] if v is not None] for a, b in itertools.pairwise(edges))
    return [fmean(group) if group else None for group in groups]


def noise(values: Sequence[float]) -> float:
    """Scatter of single values around a slow trend, in their unit: 1.4826 MAD of first differences / sqrt(2)."""
    jumps = [later - earlier for earlier, later in itertools.pairwise(values)]
    if not jumps:
        return 0.0
    middle = median(jumps)
    return 1.4826 * median(abs(jump - middle) for jump in jumps) / math.sqrt(2)
