"""Words at the edges of a chart: bounds, thresholds and baseline, names of lines, attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from klinic.dashboards.figures.frame import Axis
from klinic.dashboards.figures.layers import visible_limits
from klinic.dashboards.figures.line import edge_label
from klinic.dashboards.figures.scene import Scene, last_value
from klinic.dashboards.figures.text import cut, number
from klinic.dashboards.figures.theme import MONO, Look

Part = dict[str, Any]
BASE = {"en": "base", "zh": "基线"}
BASELINE = {"en": "baseline of this run: {}", "zh": "这次训练的基线：{}"}
BOUND = {"en": "healthy bound: {}", "zh": "健康界限：{}"}


def labels(scene: Scene, names: Sequence[str], look: Look, axis: Axis, *, stacked: bool) -> list[Part]:
    """Values of bounds, thresholds and baseline at the right edge, or the lines' names where there are several."""
    if len(names) > 1:
        return spread(_names(scene, names, look, stacked=stacked), axis)
    drawn = [
        edge_label(limit.value, number(limit.value), look.palette.of(limit.severity), f"{limit.rule}: {limit.name}")
        for limit in visible_limits(scene, names, axis)
    ]
    if names:
        drawn += _bound_labels(scene, names[0], look, axis) + _base_label(scene, names[0], look, axis)
    return spread(drawn, axis) + [_attempt(scene, number_, look) for number_ in range(len(scene.breaks))]


def _bound_labels(scene: Scene, name: str, look: Look, axis: Axis) -> list[Part]:
    bounds = scene.bounds(name)
    return [
        edge_label(end, number(end), look.palette.healthy, BOUND[look.lang].format(number(end)))
        for end in (bounds.last if bounds else ())
        if bounds and end is not None and axis.holds(end)
    ]


def _base_label(scene: Scene, name: str, look: Look, axis: Axis) -> list[Part]:
    base = scene.baseline(name)
    if base is None or not axis.holds(base):
        return []
    return [edge_label(base, BASE[look.lang], look.palette.faint, BASELINE[look.lang].format(number(base)))]


def _names(scene: Scene, names: Sequence[str], look: Look, *, stacked: bool) -> list[Part]:
    """Each line's name where it ends (in a stack: in the middle of its layer)."""
    ends, below = [], 0.0
    for place, name in enumerate(names):
        last = last_value(scene.values(name)) or 0.0
        height = below + last / 2 if stacked else last
        below += last
        ends.append(edge_label(height, cut(name.partition("/")[2] or name, 15), look.palette.words(place), name))
    return ends


def spread(parts: list[Part], axis: Axis) -> list[Part]:
    """Labels moved apart so that none covers another; at most one a line's height."""
    gap = axis.span * 0.085
    placed: list[Part] = []
    for part in sorted(parts, key=lambda part: float(part["y"])):
        least = placed[-1]["y"] + gap if placed else axis.low
        placed.append({**part, "y": max(float(part["y"]), least)})
    over = placed[-1]["y"] - axis.high if placed else 0
    return [{**part, "y": part["y"] - max(over, 0)} for part in placed]


def _attempt(scene: Scene, place: int, look: Look) -> Part:
    attempt = scene.run.attempts[place + 1]
    font = {"family": MONO, "size": 10, "color": look.palette.faint}
    text = f"第 {attempt.number} 次" if look.lang == "zh" else f"attempt {attempt.number}"
    where = {"xref": "x", "x": attempt.first_step, "yref": "paper", "y": 1}
    return {**where, "xanchor": "left", "yanchor": "top", "text": text, "showarrow": False, "font": font}
