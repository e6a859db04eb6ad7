"""A chart over steps: lines, and around them what the judge saw (bands, thresholds, findings, events)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from klinic.dashboards.figures import labels, layers, marks
from klinic.dashboards.figures.arrays import POINTS, Floats, kept, packed, smoothed
from klinic.dashboards.figures.frame import Axis, layout
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.text import plain
from klinic.dashboards.figures.theme import Look, tint

Figure = dict[str, Any]
MAX_LINES = 8


@dataclass(frozen=True)
class Chart:
    """What one chart shows: `key` names it and its title in messages.yaml, metrics are names or patterns.

    The first metric is the one that bands, thresholds and baseline belong to. stacked: parts of a whole.
    """

    key: str
    metrics: tuple[str, ...]
    stacked: bool = False


@dataclass(frozen=True)
class View:
    """What part of the run is looked at and how: steps, the finding picked, smoothing in steps, log scale."""

    first: float | None = None
    last: float | None = None
    finding: str | None = None
    span: int = 0
    log: bool = False
    points: int = POINTS

    @property
    def window(self) -> tuple[float, float] | None:
        """The steps shown, None for all."""
        return (self.first, self.last) if self.first is not None and self.last is not None else None


def shown(scene: Scene, chart: Chart) -> list[str]:
    """Metrics of a chart that the run has, in the chart's order."""
    found = [name for pattern in chart.metrics for name in scene.matching(pattern)]
    return list(dict.fromkeys(found))[:MAX_LINES]


def figure(scene: Scene, chart: Chart, look: Look, view: View | None = None) -> Figure:
    """One chart of a run as a prebuilt figure."""
    view = view or View()
    names = shown(scene, chart)
    axis = axis_of(scene, names, view, stacked=chart.stacked)
    traces = [] if chart.stacked else layers.band(scene, names, look, axis)
    for place, name in enumerate(names):
        traces += lines(scene, name, look.palette.runs[place % 8], view, stacked=chart.stacked, label=len(names) > 1)
    traces += marks.marks(scene, names, look, view.finding)
    return {"data": traces, "layout": drawn(scene, chart, names, look, view, axis)}


def drawn(scene: Scene, chart: Chart, names: Sequence[str], look: Look, view: View, axis: Axis) -> dict[str, Any]:
    """The layout with its shapes and labels; alone it is what a new step may change beside the points."""
    base = layout(look, axis, view.window or whole(scene), log=view.log)
    base["meta"]["whole"] = whole(scene)
    base["shapes"] = layers.shapes(scene, names, look, axis, view.finding)
    base["annotations"] = labels.labels(scene, names, look, axis, stacked=chart.stacked)
    base["margin"]["r"] = 104 if len(names) > 1 else 60
    return base


def whole(scene: Scene) -> tuple[float, float] | None:
    """The x range of the whole run, the same in every chart."""
    steps = scene.run.steps
    pad = max((steps[1] - steps[0]) * 0.012, 0.5) if steps else 0.5
    return (steps[0] - pad, steps[1] + pad) if steps else None


def lines(
    scene: Scene, name: str, colour: str, view: View, *, stacked: bool = False, label: bool = False
) -> list[Figure]:
    """The raw line, always there, and the smoothed one over it where that is asked for."""
    values = scene.values(name)
    if stacked:
        view = replace(view, points=POINTS // 3)
    traces = _line(scene, name, values, colour, view, role="raw", label=label)
    if stacked:
        for trace in traces:
            trace |= {"stackgroup": "one", "fillcolor": tint(colour, 0.55), "line": {"width": 0.5, "color": colour}}
        return traces
    if view.span > 1 and np.count_nonzero(~np.isnan(values)) > view.span:
        for trace in traces:
            trace["opacity"] = 0.4
            trace["line"]["width"] = 1
        traces += _line(scene, name, smoothed(values, view.span), colour, view, role="smooth", label=label)
    return traces


def _line(scene: Scene, name: str, values: Floats, colour: str, view: View, *, role: str, label: bool) -> list[Figure]:
    """A line; a long one is history in base64 and a plain tail that begins at its last point and grows."""
    x, y, tail = points(scene, values, view)
    first = _trace(name, x, y, colour, role=role, label=label, markers=tail is None and len(y) <= 60)
    if tail is None:
        return [first]
    rest = _trace(name, [tail[0]], [tail[1]], colour, role=role, label=label)
    return [first, rest]


def _trace(name: str, x: Any, y: Any, colour: str, *, role: str, label: bool, markers: bool = False) -> Figure:
    hover = f"{plain(name)}: " if label else ""
    return {
        "type": "scatter",
        "mode": "lines+markers" if markers else "lines",
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 2.2 if role == "smooth" else 1.6},
        "marker": {"size": 4, "color": colour},
        "name": plain(name),
        "meta": {"metric": name, "role": role},
        "connectgaps": False,
        "hovertemplate": f"{hover}%{{y:.4~g}}<extra></extra>",
        "hoverinfo": "skip" if role == "smooth" else "all",
        "showlegend": False,
    }


def points(scene: Scene, values: Floats, view: View) -> tuple[Any, Any, tuple[int, float] | None]:
    """x and y of a line: rows with a value, a gap before each new attempt, thinned where there are too many.

    Short lines are plain lists, which the browser can append to; long ones are base64, with their last point apart.
    """
    rows = np.flatnonzero(~np.isnan(values))
    if view.window is not None and len(rows) > view.points:
        steps = scene.steps[rows]
        inside = np.flatnonzero((steps >= view.window[0]) & (steps <= view.window[1]))
        if len(inside):
            rows = rows[max(inside[0] - 1, 0) : inside[-1] + 2]
    rows = rows[kept(values[rows], view.points)]
    x, y = scene.steps[rows], values[rows]
    cuts = [np.searchsorted(rows, row) for row in scene.breaks]
    x = np.insert(x, cuts, [scene.steps[row] for row in scene.breaks])
    y = np.insert(y, cuts, np.nan)
    if len(y) > POINTS // 2:
        return packed(x, "i4"), packed(y), (int(x[-1]), short(y[-1]))
    return x.astype(int).tolist(), [None if np.isnan(value) else short(value) for value in y], None


def short(value: float) -> float:
    """A value with the digits that a picture can show."""
    return float(f"{value:.6g}")


def axis_of(scene: Scene, names: Sequence[str], view: View, *, stacked: bool) -> Axis:
    """The y range that shows every value in view, and the healthy bounds where they are not far off."""
    columns = [scene.values(name) for name in names]
    if view.window is not None and len(scene.steps):
        inside = (scene.steps >= view.window[0]) & (scene.steps <= view.window[1])
        columns = [column[inside] for column in columns]
    if stacked:
        total = np.nansum(np.vstack(columns), axis=0) if columns else np.empty(0)
        return Axis.around(np.append(total, 0.0), ())
    joined = np.concatenate(columns) if columns else np.empty(0)
    return Axis.around(joined, layers.near(scene, names))
