"""Lines that may be long: thinned so that no spike is lost, history in base64, and a plain tail that grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from klinic.dashboards.figures.arrays import POINTS, Floats, Ints, kept, packed
from klinic.dashboards.figures.column import Column
from klinic.dashboards.figures.frame import DOTS
from klinic.dashboards.figures.text import plain
from klinic.dashboards.figures.theme import MONO, Look

Trace = dict[str, Any]


def chosen(column: Column, rows: tuple[int, int], points: int) -> Ints:
    """The rows in [first, last) to draw of a column: those with a value, thinned where there are too many."""
    telling = column.telling(*rows)
    values = column.values(rows[1])[telling]
    known = ~np.isnan(values)
    return telling[known][kept(values[known], points)]


def parted(rows: Ints, x: Floats, y: Floats, breaks: Sequence[int], starts: Floats) -> tuple[Floats, Floats]:
    """The points with a gap before each new attempt: `breaks` are their first rows, `starts` where these stand."""
    cuts = np.searchsorted(rows, breaks)
    return np.insert(x, cuts, starts), np.insert(y, cuts, np.nan)


def traces(x: Floats, y: Floats, style: Trace, kind: str = "i4") -> list[Trace]:
    """A line as one trace of plain lists, which a browser can append to; a long one with its last point apart."""
    if len(y) <= POINTS // 2:
        plain_line = style["meta"]["role"] == "raw" and style["opacity"] == 1 and "stackgroup" not in style
        mode = "lines+markers" if plain_line and len(y) <= DOTS else "lines"
        return [style | {"mode": mode, "x": numbers(x, kind), "y": [None if np.isnan(v) else short(v) for v in y]}]
    tail = {"x": numbers(x[-1:], kind), "y": [short(y[-1])]}
    return [style | {"x": packed(x, kind), "y": packed(y)}, style | tail]


def numbers(x: Floats, kind: str) -> list[Any]:
    """Places on the x axis as plain numbers."""
    return [int(value) for value in x] if kind == "i4" else [float(f"{value:.9g}") for value in x]


def short(value: float) -> float:
    """A value with the digits that a picture can show."""
    return float(f"{value:.6g}")


def style(colour: str, meta: Trace, hover: str, name: str, *, faint: bool = False, dash: bool = False) -> Trace:
    """How a line looks: smoothed ones bold, raw ones thin and, under a smoothed one, faint."""
    smooth = meta["role"] == "smooth"
    width = 1.0 if faint else 2.2 if smooth else 1.6
    return {
        "type": "scatter",
        "mode": "lines",
        "line": {"color": colour, "width": width, "dash": "dash" if dash else "solid"},
        "marker": {"size": 4, "color": colour},
        "opacity": 0.4 if faint else 1,
        "name": plain(name),
        "meta": meta,
        "connectgaps": False,
        "hovertemplate": f"{hover}<extra></extra>",
        "hoverinfo": "skip" if smooth else "all",
        "showlegend": False,
    }


def crosses(x: list[Any], texts: list[str], look: Look) -> Trace:
    """Where values were not finite: crosses on the upper edge."""
    line = {"width": 2, "color": look.palette.sick}
    marker = {"symbol": "x-thin-open", "size": 8, "color": look.palette.sick, "line": line}
    return on_edge("nonfinite", x, 0.95, texts, marker)


def on_edge(role: str, x: list[Any], height: float, texts: list[str], marker: Trace) -> Trace:
    """Points on an edge of a chart, on an axis from 0 at its foot to 1 on top."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": [height] * len(x),
        "yaxis": "y2",
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
        "marker": marker,
        "showlegend": False,
        "meta": {"role": role},
    }


def edge_label(height: float, text: str, colour: str, hover: str = "") -> Trace:
    """Words at the right edge of a chart."""
    return {
        "xref": "paper",
        "x": 1,
        "yref": "y",
        "y": height,
        "xanchor": "left",
        "yanchor": "middle",
        "xshift": 4,
        "text": plain(text),
        "hovertext": plain(hover),
        "showarrow": False,
        "font": {"family": MONO, "size": 11, "color": colour},
    }
