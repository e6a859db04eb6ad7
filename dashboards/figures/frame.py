"""The frame of every chart: thin axes, light y grid, shared x, a second y axis for what stands on the edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from klinic.dashboards.figures.arrays import Floats
from klinic.dashboards.figures.theme import MONO, SANS, Look

HEIGHT = 208
FEW = 8  # so few steps are counted one by one on the axis
DOTS = 60  # a line of no more points shows each


@dataclass(frozen=True)
class Axis:
    """The y range of a chart; `near` are the bounds that count when the browser fits the range anew."""

    low: float = 0.0
    high: float = 1.0
    near: tuple[float, ...] = ()

    @staticmethod
    def around(values: Floats, bounds: Sequence[float]) -> Axis:
        """A range around all values, and those bounds that lie within one span of them."""
        finite = values[np.isfinite(values)]
        if not len(finite):
            return Axis()
        low, high = float(finite.min()), float(finite.max())
        span = (high - low) or abs(high) * 0.2 or 1.0
        near = tuple(bound for bound in bounds if low - span <= bound <= high + span)
        low, high = min((low, *near)), max((high, *near))
        pad = 0.08 * ((high - low) or span)
        return Axis(low - pad, high + pad, near)

    @property
    def span(self) -> float:
        """Height of the range."""
        return self.high - self.low

    def holds(self, value: float) -> bool:
        """Whether a value can be seen."""
        return self.low <= value <= self.high


def layout(look: Look, axis: Axis, window: tuple[float, float] | None, *, log: bool = False) -> dict[str, Any]:
    """The layout that all charts over steps share."""
    palette = look.palette
    font = {"family": MONO, "size": 11, "color": palette.faint}
    x: dict[str, Any] = {
        "showgrid": False,
        "zeroline": False,
        "tickfont": font,
        "ticks": "outside",
        "ticklen": 3,
        "tickcolor": palette.grid,
        "linecolor": palette.grid,
        "showline": True,
        "nticks": 7,
        "hoverformat": "d",
        "unifiedhovertitle": {"text": f"{STEP[look.lang]} %{{x}}"},
        "showspikes": True,
        "spikemode": "across",
        "spikethickness": 1,
        "spikedash": "solid",
        "spikecolor": palette.faint,
        "spikesnap": "cursor",
    }
    if window:
        x |= {"range": list(window), "dtick": 1 if window[1] - window[0] < FEW else None}
    return {
        "xaxis": x,
        "yaxis": _y(look, axis, font, log=log),
        "yaxis2": {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True},
        "height": HEIGHT,
        "margin": {"l": 48, "r": 52, "t": 10, "b": 26},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": SANS, "size": 12, "color": palette.ink},
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": palette.card, "bordercolor": palette.grid, "font": {**font, "color": palette.ink}},
        "dragmode": "zoom",
        "showlegend": False,
        "uirevision": "kept",
        "meta": {"near": list(axis.near), "log": log, "few": FEW, "dots": DOTS},
    }


STEP = {"en": "step", "zh": "步"}


def _y(look: Look, axis: Axis, font: dict[str, Any], *, log: bool) -> dict[str, Any]:
    low, high = axis.low, axis.high
    if log:
        low = max(low, high * 1e-6, 1e-12)
        low, high = math.log10(low), math.log10(max(high, low * 10))
    return {
        "type": "log" if log else "linear",
        "range": [low, high],
        "fixedrange": True,
        "gridcolor": look.palette.grid,
        "gridwidth": 1,
        "zeroline": False,
        "tickfont": font,
        "nticks": 5,
        "exponentformat": "e",
        "tickformat": "~s" if axis.high >= 10_000 else "",
        "separatethousands": True,
    }


CONFIG = {
    "displaylogo": False,
    "displayModeBar": False,
    "doubleClick": False,
    "responsive": True,
    "scrollZoom": False,
}
