"""One metric of several runs in one chart, over steps, hours or tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from klinic.dashboards.figures.arrays import Floats, smoothable
from klinic.dashboards.figures.chart import Figure
from klinic.dashboards.figures.frame import Axis, layout
from klinic.dashboards.figures.labels import spread
from klinic.dashboards.figures.line import chosen, crosses, edge_label, parted, style, traces
from klinic.dashboards.figures.scene import Scene, last_value, window_rows
from klinic.dashboards.figures.text import cut, plain
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.figures.view import View
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
        tokens = scene.values("perf/total_num_tokens").astype(np.float64)
        return np.where(np.isnan(tokens), np.nan, np.nancumsum(tokens))
    return scene.steps


def overlay(runs: Sequence[Named], name: str, look: Look, view: View, kind: Across = "step") -> Figure:
    """A figure with one line a run, in the colours of their order; raw lines stay under smoothed ones."""
    having = [(place, run) for place, run in enumerate(runs) if run.scene.run.has(name)]
    traces: list[Figure] = []
    for place, run in having:
        traces += _lines(run, name, look.palette.runs[place % 8], view, kind, dash=place >= 8)
    traces += [part for _, run in having if (part := _nonfinite(run, name, look, kind))]
    values = [run.scene.telling(name) for _, run in having]
    axis = Axis.around(np.concatenate(values) if values else np.empty(0), ())
    made = layout(look, axis, view.window, log=view.log)
    labelled = having if len(runs) > 1 else []
    ends = [_end(run, name, look.palette.words(place), log=view.log) for place, run in labelled]
    made["annotations"] = spread([end for end in ends if end], Axis(*made["yaxis"]["range"]))
    made["margin"]["r"] = 112 if labelled else 24
    made["meta"] |= {"whole": whole(runs, kind), "across": kind}
    made["xaxis"] |= {"range": list(view.window or made["meta"]["whole"]), **_hover(kind, look)}
    if kind != "step":
        made["xaxis"]["dtick"] = made["meta"]["few"] = None
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
    smooth = smoothable(run.scene.values(name), view.span)
    made = _line(run, name, "raw", view, colour, kind, faint=smooth, dash=dash)
    return made + (_line(run, name, "smooth", view, colour, kind, dash=dash) if smooth else [])


def _line(
    run: Named, name: str, role: str, view: View, colour: str, kind: Across, *, faint: bool = False, dash: bool = False
) -> list[Figure]:
    scene, x = run.scene, across(run.scene, kind)
    column = scene.column(name, view.span if role == "smooth" else 0)
    rows = chosen(column, window_rows(x, view.window), view.points)
    rows = rows[~np.isnan(x[rows])]
    xs, ys = parted(rows, x[rows], column.values(scene.rows)[rows], scene.breaks, x[[*scene.breaks]])
    meta = {"metric": name, "role": role, "run": run.name}
    hover = f"%{{y:.4~g}} {plain(cut(run.name, 30))}"
    kept_as = "i4" if kind == "step" else "f8"
    return traces(xs, ys, style(colour, meta, hover, run.name, faint=faint, dash=dash), kept_as)


def _nonfinite(run: Named, name: str, look: Look, kind: Across) -> Figure | None:
    flags = run.scene.run.nonfinite
    codes = flags[name].to_numpy() if name in flags.columns else np.empty(0)
    rows = np.flatnonzero(codes > 0)
    words = [f"{plain(run.name)}: {WORDS[int(code)]}" for code in codes[rows]]
    return crosses(across(run.scene, kind)[rows].tolist(), words, look) if words else None


def _end(run: Named, name: str, colour: str, *, log: bool) -> dict[str, Any] | None:
    last = last_value(run.scene.values(name))
    if last is None or (log and last <= 0):
        return None
    height = float(np.log10(last)) if log else last
    return edge_label(height, cut(short_name(run.name), 15), colour, run.name)
