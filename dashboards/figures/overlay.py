"""One metric of several runs in one chart, over steps, hours or tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from klinic.dashboards.figures.arrays import Floats, kept, packed, smoothed
from klinic.dashboards.figures.chart import Figure, View
from klinic.dashboards.figures.frame import Axis, layout
from klinic.dashboards.figures.labels import spread
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.text import cut, plain
from klinic.dashboards.figures.theme import MONO, Look
from klinic.diagnostics.run.model import WORDS

Across = Literal["step", "time", "tokens"]


def short_name(run: str) -> str:
    """The last part of a run's name that says something."""
    parts = run.split("/")
    return parts[-2] if len(parts) > 1 and "." in parts[-1] else parts[-1]


@dataclass(frozen=True)
class Named:
    """A run in a picture of several."""

    name: str
    scene: Scene


def across(scene: Scene, kind: Across) -> Floats:
    """x of every row: its step, hours since the first row, or tokens seen so far; NaN where unknown."""
    frame = scene.run.frame
    if kind == "time":
        times = frame["time"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        known = times[~np.isnan(times)]
        return (times - known[0]) / 3600 if len(known) else times
    if kind == "tokens":
        tokens = scene.values("perf/total_num_tokens")
        return np.where(np.isnan(tokens), np.nan, np.nancumsum(tokens))
    return scene.steps


def overlay(runs: Sequence[Named], name: str, look: Look, view: View, kind: Across = "step") -> Figure:
    """A figure with one line a run, in the colours of their order; raw lines stay under smoothed ones."""
    having = [(place, run) for place, run in enumerate(runs) if run.scene.run.has(name)]
    traces: list[Figure] = []
    for place, run in having:
        traces += _lines(run, name, look.palette.runs[place % 8], view, kind, dash=place >= 8)
    traces += [part for _, run in having if (part := _nonfinite(run, name, look, kind))]
    values = [run.scene.values(name) for _, run in having]
    axis = Axis.around(np.concatenate(values) if values else np.empty(0), ())
    made = layout(look, axis, view.window, log=view.log)
    labelled = having if len(runs) > 1 else []
    ends = [_end(run, name, look.palette.runs[place % 8], axis, log=view.log) for place, run in labelled]
    made["annotations"] = spread([end for end in ends if end], Axis(*made["yaxis"]["range"]))
    made["margin"]["r"] = 104 if labelled else 24
    made["meta"]["whole"] = whole(runs, kind)
    made["xaxis"] |= {"range": list(view.window or made["meta"]["whole"]), **_hover(kind, look)}
    return {"data": traces, "layout": made}


def _hover(kind: Across, look: Look) -> dict[str, Any]:
    if kind == "step":
        return {}
    unit = {"time": "h", "tokens": "tokens"}[kind]
    return {"hoverformat": ".3~s", "unifiedhovertitle": {"text": f"%{{x}} {unit}"}}


def whole(runs: Sequence[Named], kind: Across) -> tuple[float, float]:
    """The x range that holds all runs."""
    ends = [x[~np.isnan(x)] for run in runs if len(x := across(run.scene, kind))]
    joined = np.concatenate([end for end in ends if len(end)] or [np.array([0.0, 1.0])])
    low, high = float(joined.min()), float(joined.max())
    pad = (high - low) * 0.012 or 0.5
    return low - pad, high + pad


def _lines(run: Named, name: str, colour: str, view: View, kind: Across, *, dash: bool) -> list[Figure]:
    values = run.scene.values(name)
    parts = [("raw", values)]
    if view.span > 1 and np.count_nonzero(~np.isnan(values)) > view.span:
        parts.append(("smooth", smoothed(values, view.span)))
    return [_line(run, name, role, column, colour, kind, faint=len(parts) > 1, dash=dash) for role, column in parts]


def _line(
    run: Named, name: str, role: str, values: Floats, colour: str, kind: Across, *, faint: bool, dash: bool
) -> Figure:
    x = across(run.scene, kind)
    rows = np.flatnonzero(~np.isnan(values) & ~np.isnan(x))
    rows = rows[kept(values[rows])] if len(rows) else rows
    thin = faint and role == "raw"
    width = 1.0 if thin else 2.2 if role == "smooth" else 1.6
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(rows) <= 60 and not thin else "lines",
        "x": packed(x[rows], "i4" if kind == "step" else "f8"),
        "y": packed(values[rows]),
        "line": {"color": colour, "width": width, "dash": "dash" if dash else "solid"},
        "marker": {"size": 4, "color": colour},
        "opacity": 0.4 if thin else 1,
        "name": plain(run.name),
        "meta": {"metric": name, "role": role, "run": run.name},
        "hovertemplate": f"%{{y:.4~g}} {plain(cut(run.name, 30))}<extra></extra>",
        "hoverinfo": "skip" if role == "smooth" else "all",
        "showlegend": False,
    }


def _nonfinite(run: Named, name: str, look: Look, kind: Across) -> Figure | None:
    flags = run.scene.run.nonfinite
    if name not in flags.columns:
        return None
    rows = np.flatnonzero(flags[name].to_numpy() > 0)
    if not len(rows):
        return None
    words = [f"{plain(run.name)}: {WORDS[int(code)]}" for code in flags[name].to_numpy()[rows]]
    return {
        "type": "scatter",
        "mode": "markers",
        "yaxis": "y2",
        "x": across(run.scene, kind)[rows].tolist(),
        "y": [0.95] * len(rows),
        "text": words,
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "symbol": "x-thin-open",
            "size": 8,
            "color": look.palette.sick,
            "line": {"width": 2, "color": look.palette.sick},
        },
        "showlegend": False,
        "meta": {"role": "nonfinite"},
    }


def _end(run: Named, name: str, colour: str, axis: Axis, *, log: bool) -> dict[str, Any] | None:
    values = run.scene.values(name)
    finite = values[np.isfinite(values)]
    if not len(finite) or (log and finite[-1] <= 0):
        return None
    height = float(np.log10(finite[-1])) if log else float(finite[-1])
    font = {"family": MONO, "size": 11, "color": colour}
    place = {"xref": "paper", "x": 1, "yref": "y", "y": height, "xanchor": "left", "xshift": 4}
    return {
        **place,
        "yanchor": "middle",
        "text": plain(cut(short_name(run.name), 15)),
        "showarrow": False,
        "font": font,
    }
