"""What a page that is open must be told: new points of the charts it shows, and what changed around them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from klinic.dashboards.figures import marks
from klinic.dashboards.figures.arrays import Floats
from klinic.dashboards.figures.chart import Chart, axis_of, drawn, shown, whole
from klinic.dashboards.figures.layers import band_ends
from klinic.dashboards.figures.line import short
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.figures.view import View

News = dict[str, Any]
Marks = Mapping[str, int]  # part of what stands around a chart's lines -> its mark
MAX_ROWS = 500  # more new rows than these are drawn anew


def mark(value: object) -> int:
    """A short sign by which to tell whether something changed."""
    return zlib.crc32(orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS))


def _plain(value: Any) -> Any:
    """A component as Dash would send it, anything else as text."""
    return value.to_plotly_json() if hasattr(value, "to_plotly_json") else str(value)


def fresh(
    scene: Scene, charts: tuple[Chart, ...], look: Look, view: View, rows: int, known: Mapping[str, Marks]
) -> tuple[dict[str, News], dict[str, Marks]]:
    """What each chart lacks since `rows` rows, and the marks of what stands around its lines as it is now."""
    news, now = {}, dict(known)
    for chart in charts:
        names = shown(scene, chart)
        around = _around(scene, chart, names, look, view)
        now[chart.key] = {part: mark(value) for part, value in around.items()}
        item: News = {"points": _points(scene, chart, names, view, rows), "whole": whole(scene)}
        old = known.get(chart.key, {})
        if changed := {part: value for part, value in around.items() if old.get(part) != now[chart.key][part]}:
            item["around"] = changed
        news[chart.key] = item
    return news, now


def _around(scene: Scene, chart: Chart, names: list[str], look: Look, view: View) -> dict[str, Any]:
    axis = axis_of(scene, names, view, stacked=chart.stacked)
    made = drawn(scene, chart, names, look, view, axis)
    edges = marks.marks(scene, names, look, view.finding)
    return {"shapes": made["shapes"], "annotations": made["annotations"], "edges": edges}


def _points(scene: Scene, chart: Chart, names: list[str], view: View, rows: int) -> list[Any]:
    """[metric, role, [x...], [y...]] of each line that grew."""
    added = [_new(scene, name, "raw", scene.values(name)[rows:], rows) for name in names]
    if view.span > 1 and not chart.stacked:
        smooth = {name: scene.column(name, view.span).values(scene.rows) for name in names}
        added += [_new(scene, name, "smooth", values[rows:], rows) for name, values in smooth.items()]
    if names and not chart.stacked:
        bands = band_ends(scene, names[0], rows)
        added += [_new(scene, names[0], role, values, rows) for role, values in bands.items()]
    return [item for item in added if item[2]]


def _new(scene: Scene, name: str, role: str, values: Floats, rows: int) -> list[Any]:
    """The new values of a line, `rows` being the first row of them."""
    known = np.flatnonzero(~np.isnan(values))
    steps = scene.steps[rows + known].astype(int).tolist()
    return [name, role, steps, [short(value) for value in values[known]]]
