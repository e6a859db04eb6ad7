"""A spark: the last stretch of a metric over its healthy band, as an SVG that takes its colours from the page.

It goes to a page with every step: what all sparks share (fill, widths) stands in the pages' styles.
"""

from __future__ import annotations

from collections.abc import Sequence

W, H = 240, 56


def spark(
    values: Sequence[float | None], low: float | None = None, high: float | None = None, status: str = "line"
) -> str:
    """An SVG of numbers only, in quotes that JSON need not escape; its colours are the page's, and follow the theme."""
    finite = [value for value in values if value is not None]
    if not finite:
        return ""
    bottom, top = _range(finite, low, high)
    band = _band(bottom, top, low, high)
    path, (x, y) = _path(values, bottom, top)
    stroke = f"var(--{status if status in ('watch', 'sick') else 'line'})"
    drawn = f"{band}<path d='{path}'/><path d='M{x} {y}h.01'/>"
    return f"<svg viewBox='0 0 {W} {H}' preserveAspectRatio='none' stroke='{stroke}'>{drawn}</svg>"


def _range(finite: Sequence[float], low: float | None, high: float | None) -> tuple[float, float]:
    bottom, top = min(finite), max(finite)
    span = (top - bottom) or abs(top) or 1.0
    near = [bound for bound in (low, high) if bound is not None and bottom - span <= bound <= top + span]
    bottom, top = min([bottom, *near]), max([top, *near])
    pad = 0.12 * ((top - bottom) or span)
    return bottom - pad, top + pad


def _band(bottom: float, top: float, low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    upper = top if high is None else min(max(high, bottom), top)
    lower = bottom if low is None else min(max(low, bottom), top)
    y, height = _y(upper, bottom, top), _y(lower, bottom, top) - _y(upper, bottom, top)
    return f"<rect x='0' y='{y:.0f}' width='{W}' height='{max(height, 0):.0f}'/>"


def _y(value: float, bottom: float, top: float) -> float:
    return H - (value - bottom) / (top - bottom) * H


def _path(values: Sequence[float | None], bottom: float, top: float) -> tuple[str, tuple[int, int]]:
    """Whole, relative numbers: a few bytes a point."""
    step = (W - 12) / max(len(values) - 1, 1)
    path, at, down = "", (0, 0), False
    for place, value in enumerate(values):
        if value is None:
            down = False
            continue
        x, y = round(4 + place * step), round(_y(value, bottom, top))
        path += f"l{x - at[0]} {y - at[1]}" if down else f"M{x} {y}"
        at, down = (x, y), True
    return path, at
