"""Kernels over a metric's known values. Each result depends on its own window alone, bit for bit, so that
evaluating in pieces gives exactly what evaluating at once gives (no running sums with their rounding). Zero has no
sign: which of several zeros is picked depends on how it is done."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from klinic.diagnostics.signals.block import Floats

SHORT = 64  # values of a single window up to which plain Python is quicker than numpy
Kernel = Callable[[Floats], Floats]  # rows of windows, all of one length -> one result a row


def minimum(window: int) -> int:
    """Values that a window needs before it counts: half of it, and at least two."""
    return max(2, -(-window // 2))


def rolling(joined: Floats, old: int, window: int, least: int, kernel: Kernel) -> Floats:
    """Results for the values from index `old` on; `joined` begins with the look-back of up to window - 1 values.

    Windows still filling (fewer than `window` values, at least `least`) are given to the kernel one by one.
    """
    out = np.full(len(joined) - old, np.nan)
    for end in range(max(old + 1, least), min(window, len(joined) + 1)):
        out[end - 1 - old] = kernel(joined[None, :end])[0]
    if len(joined) - old == 1 and len(joined) >= window:
        out[0] = kernel(joined[None, -window:])[0]
        return out
    first = max(old, window - 1)
    if first < len(joined):
        out[first - old :] = kernel(sliding_window_view(joined[first - window + 1 :], window))
    return out


def median(rows: Floats) -> Floats:
    """Median of each row."""
    width = rows.shape[1]
    middle = width // 2
    if width % 2:
        return np.asarray(np.partition(rows, middle, axis=1)[:, middle] + 0.0)
    parts = np.partition(rows, (middle - 1, middle), axis=1)
    return np.asarray((parts[:, middle - 1] + parts[:, middle]) / 2 + 0.0)


def mad(rows: Floats) -> Floats:
    """1.4826 times the median absolute deviation of each row: a standard deviation that outliers do not move."""
    return 1.4826 * median(np.abs(rows - median(rows)[:, None]))


def total(rows: Floats) -> Floats:
    """Sum of each row, added column by column so that the order never depends on how many rows there are."""
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        even = rows[:, :half] + rows[:, half : 2 * half]
        rows = even if rows.shape[1] % 2 == 0 else np.concatenate([even, rows[:, -1:]], axis=1)
    return np.asarray(rows[:, 0])


def mean(rows: Floats) -> Floats:
    """Mean of each row."""
    return np.asarray(total(rows) / rows.shape[1])


def deviation(rows: Floats) -> Floats:
    """Standard deviation of each row (n - 1)."""
    centred = rows - mean(rows)[:, None]
    return np.asarray(np.sqrt(total(centred * centred) / max(rows.shape[1] - 1, 1)))


def ramp(width: int) -> Floats:
    """A straight line of slope 1 through 0 in its middle."""
    return np.arange(width, dtype=np.float64) - (width - 1) / 2


def line(rows: Floats) -> Floats:
    """Change along the least squares line over each row, in the values' unit."""
    slope = ramp(rows.shape[1])
    centred = rows - mean(rows)[:, None]
    return np.asarray(total(centred * slope) / float((slope * slope).sum()) * rows.shape[1])


def straightness(rows: Floats) -> Floats:
    """Share of each row's variance that the straight line explains; NaN for a constant row."""
    slope = ramp(rows.shape[1])
    centred = rows - mean(rows)[:, None]
    spread = total(centred * centred)
    along = total(centred * slope) ** 2 / float((slope * slope).sum())
    tiny = 1e-24 * total(rows * rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.minimum(np.where(spread > tiny, along / spread, np.nan), 1.0)


def jitter(rows: Floats) -> Floats:
    """Noise of each row: 1.4826 MAD of its first differences over the square root of two."""
    return np.asarray(mad(np.diff(rows, axis=1)) / np.sqrt(2.0))


def lowest(rows: Floats) -> Floats:
    """Smallest of each row."""
    return np.asarray(rows.min(axis=1) + 0.0)


def highest(rows: Floats) -> Floats:
    """Largest of each row."""
    return np.asarray(rows.max(axis=1) + 0.0)


def oldest(rows: Floats) -> Floats:
    """First of each row."""
    return rows[:, 0]
