"""A chart over steps: lines, and around them what the judge saw (bands, thresholds, findings, events)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from klinic.dashboards.figures import labels, layers, marks
from klinic.dashboards.figures.arrays import POINTS, kept, smoothable
from klinic.dashboards.figures.frame import Axis, layout
from klinic.dashboards.figures.line import chosen, parted, style, traces
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.text import plain
from klinic.dashboards.figures.theme import Look, tint
from klinic.dashboards.figures.view import View

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


def shown(scene: Scene, chart: Chart) -> list[str]:
    """Metrics of a chart that the run has, in the chart's order."""
    found = [name for pattern in chart.metrics for name in scene.matching(pattern)]
    return list(dict.fromkeys(found))[:MAX_LINES]


def figure(scene: Scene, chart: Chart, look: Look, view: View | None = None) -> Figure:
    """One chart of a run as a prebuilt figure."""
    view = view or View()
    names = shown(scene, chart)
    axis = axis_of(scene, names, view, stacked=chart.stacked)
    drawn_lines = stack(scene, names, look, view) if chart.stacked else [*layers.band(scene, names, look)]
    for place, name in enumerate(() if chart.stacked else names):
        drawn_lines += lines(scene, name, look.palette.runs[place % 8], view, label=len(names) > 1)
    traces = drawn_lines + marks.marks(scene, names, look, view.finding)
    return {"data": traces, "layout": drawn(scene, chart, names, look, view, axis)}


def drawn(scene: Scene, chart: Chart, names: Sequence[str], look: Look, view: View, axis: Axis) -> dict[str, Any]:
    """The layout with its shapes and labels; alone it is what a new step may change beside the points."""
    base = layout(look, axis, view.window or whole(scene), log=view.log)
    base["meta"]["whole"] = whole(scene)
    base["shapes"] = layers.shapes(scene, names, look, axis, view)
    base["annotations"] = labels.labels(scene, names, look, axis, stacked=chart.stacked)
    base["margin"]["r"] = 112 if len(names) > 1 else 60
    return base


def whole(scene: Scene) -> tuple[float, float] | None:
    """The x range of the whole run, the same in every chart."""
    steps = scene.run.steps
    pad = max((steps[1] - steps[0]) * 0.012, 0.5) if steps else 0.5
    return (steps[0] - pad, steps[1] + pad) if steps else None


def lines(scene: Scene, name: str, colour: str, view: View, *, label: bool = False) -> list[Figure]:
    """The raw line, always there, and the smoothed one over it where that is asked for."""
    smooth = smoothable(scene.values(name), view.span)
    made = _line(scene, name, colour, view, "raw", label=label, faint=smooth)
    return made + (_line(scene, name, colour, view, "smooth", label=label) if smooth else [])


def _line(
    scene: Scene, name: str, colour: str, view: View, role: str, *, label: bool, faint: bool = False
) -> list[Figure]:
    column = scene.column(name, view.span if role == "smooth" else 0)
    rows = chosen(column, scene.span(view.window), view.points)
    x, y = parted(rows, scene.steps[rows], column.values(scene.rows)[rows], scene.breaks, scene.steps[[*scene.breaks]])
    hover = f"{plain(name)}: %{{y:.4~g}}" if label else "%{y:.4~g}"
    return traces(x, y, style(colour, {"metric": name, "role": role}, hover, name, faint=faint))


def stack(scene: Scene, names: Sequence[str], look: Look, view: View) -> list[Figure]:
    """Parts of a whole, one on the other, all of them at the same rows: a part that lacks one would drop to 0 there."""
    first, last = scene.span(view.window)
    parts = [np.nan_to_num(scene.values(name)[first:last]) for name in names]
    if not parts:
        return []
    total = np.sum(parts, axis=0)
    rows = np.flatnonzero(total)
    rows = rows[kept(total[rows], POINTS // 3)]
    made = []
    for place, (name, values) in enumerate(zip(names, parts, strict=True)):
        colour = look.palette.runs[place % 8]
        look_of = style(colour, {"metric": name, "role": "raw"}, f"{plain(name)}: %{{y:.4~g}}", name)
        look_of |= {"stackgroup": "one", "fillcolor": tint(colour, 0.55), "line": {"width": 0.5, "color": colour}}
        made += traces(scene.steps[first + rows], values[rows], look_of)
    return made


def axis_of(scene: Scene, names: Sequence[str], view: View, *, stacked: bool) -> Axis:
    """The y range that shows every value in view, and the healthy bounds where they are not far off."""
    if stacked:
        first, last = scene.span(view.window)
        parts = [np.nan_to_num(scene.values(name)[first:last]) for name in names]
        return Axis.around(np.append(np.sum(parts, axis=0) if parts else [], 0.0), ())
    values = [scene.telling(name, view.window) for name in names]
    return Axis.around(np.concatenate(values) if values else np.empty(0), layers.near(scene, names))
