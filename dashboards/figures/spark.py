"""A spark: the last stretch of a metric over its healthy band, as an SVG that takes its colours from the page."""

from __future__ import annotations

from collections.abc import Sequence

W, H = 120, 28


def spark(
    values: Sequence[float | None], low: float | None = None, high: float | None = None, status: str = "line"
) -> str:
    """An SVG of numbers only; colours are the page's custom properties, so that it follows the theme."""
    finite = [value for value in values if value is not None]
    if not finite:
        return ""
    bottom, top = _range(finite, low, high)
    band = _band(bottom, top, low, high)
    path, (x, y) = _path(values, bottom, top)
    stroke = f"var(--{status})" if status in ("watch", "sick") else "var(--line)"
    line = f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="1.5" vector-effect="non-scaling-stroke"/>'
    dot = (
        f'<path d="M{x} {y}h.01" stroke="{stroke}" stroke-width="5" stroke-linecap="round"'
        ' vector-effect="non-scaling-stroke"/>'
    )
    return f'<svg viewBox="0 0 {W} {H}" preserveAspectRatio="none" aria-hidden="true">{band}{line}{dot}</svg>'


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
    return f'<rect x="0" y="{y:.1f}" width="{W}" height="{max(height, 0):.1f}" fill="var(--band)"/>'


def _y(value: float, bottom: float, top: float) -> float:
    return H - (value - bottom) / (top - bottom) * H


def _path(values: Sequence[float | None], bottom: float, top: float) -> tuple[str, tuple[float, float]]:
    step = (W - 6) / max(len(values) - 1, 1)
    path, pen, last = "", "M", (0.0, 0.0)
    for place, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        last = (round(2 + place * step, 1), round(_y(value, bottom, top), 1))
        path += f"{pen}{last[0]:g} {last[1]:g}"
        pen = "L"
    return path, last
