"""Arrays for Plotly: base64 of typed numbers (a NaN is a gap), thinned so that no spike is lost."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]

POINTS = 1200  # of a line in one chart; two for each pixel that one is wide


def packed(values: Any, kind: str = "f4") -> dict[str, str]:
    """`{dtype, bdata}`: what plotly.js reads without parsing numbers."""
    array = np.ascontiguousarray(values, dtype=f"<{kind}")
    return {"dtype": kind, "bdata": base64.b64encode(array.tobytes()).decode()}


def kept(values: Floats, points: int = POINTS) -> Ints:
    """Places to keep of a line: first, last, smallest and largest of equal stretches, at most about `points`.

    Every value outside its neighbours' range in a stretch stays, and so does each stretch's shape at its ends.
    """
    count = len(values)
    if count <= points:
        return np.arange(count)
    edges = np.linspace(0, count, max(points // 4, 1) + 1).astype(np.int64)
    starts = edges[:-1]
    low = np.where(np.isnan(values), np.inf, values)
    high = np.where(np.isnan(values), -np.inf, values)
    at = [_place(low, edges, np.minimum), _place(high, edges, np.maximum)]
    return np.unique(np.concatenate([starts, edges[1:] - 1, *at]))


def _place(values: Floats, edges: Ints, best: np.ufunc) -> Ints:
    """Place of each stretch's extreme: the first one equal to it."""
    starts = edges[:-1]
    extreme = best.reduceat(values, starts)
    hits = np.flatnonzero(values == np.repeat(extreme, np.diff(edges)))
    _, first = np.unique(np.searchsorted(edges, hits, side="right"), return_index=True)
    return hits[first]


def smoothable(values: Floats, span: int) -> bool:
    """Whether a moving mean over so many steps says more than the line itself."""
    return span > 1 and int(np.count_nonzero(~np.isnan(values))) > span


def smoothed(values: Floats, span: int) -> Floats:
    """Exponential moving mean of the finite values, corrected for its start; NaN stays NaN."""
    if span <= 1 or not len(values):
        return values
    series = pl.Series(values).fill_nan(None)
    mean = series.ewm_mean(span=span, adjust=True, ignore_nulls=True).fill_null(np.nan).to_numpy()
    return np.where(np.isnan(values), np.nan, mean)
