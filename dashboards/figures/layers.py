"""What stands around a line: healthy band, thresholds, baseline, findings, events, attempts, non-finite steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from klinic.dashboards.figures.arrays import Floats, kept
from klinic.dashboards.figures.frame import Axis
from klinic.dashboards.figures.limits import Limit
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.text import cut, number, plain
from klinic.dashboards.figures.theme import MONO, Look, tint
from klinic.diagnostics.engine.model import Finding, Severity
from klinic.diagnostics.run.model import WORDS

Part = dict[str, Any]
MAX_LIMITS = 3
GLYPHS = {
    "checkpoint": "square-open",
    "resumed": "triangle-right",
    "reward": "diamond",
    "validation": "circle-open",
    "stop": "x-thin-open",
    "alert": "triangle-up",
}


def near(scene: Scene, names: Sequence[str]) -> tuple[float, ...]:
    """Levels worth keeping in sight: the last healthy bounds and the thresholds of the first metric."""
    if not names:
        return ()
    bounds = scene.bounds(names[0])
    ends = (_last(bounds.low), _last(bounds.high)) if bounds else ()
    return tuple(end for end in ends if end is not None)


def _last(values: Floats) -> float | None:
    finite = values[~np.isnan(values)]
    return float(finite[-1]) if len(finite) else None


def band(scene: Scene, names: Sequence[str], look: Look, axis: Axis) -> list[Part]:
    """The healthy range of the first metric as a soft fill; an open end runs out of the picture."""
    bounds = scene.bounds(names[0]) if names and len(scene.steps) else None
    if bounds is None:
        return []
    return [_edge(scene, names[0], values, role, look) for role, values in band_ends(scene, names[0]).items()]


def band_ends(scene: Scene, name: str) -> dict[str, Floats]:
    """Both edges of the band a row; an open one lies far outside of every value."""
    bounds, values = scene.bounds(name), scene.values(name)
    if bounds is None or not len(values):
        return {}
    finite = values[np.isfinite(values)]
    top = float(np.abs(finite).max()) if len(finite) else 1.0
    ends = [bounds.low[~np.isnan(bounds.low)], bounds.high[~np.isnan(bounds.high)]]
    far = 1e4 * max([top, *(float(np.abs(end).max()) for end in ends if len(end))], default=1.0)
    return {"low": np.nan_to_num(bounds.low, nan=-far), "high": np.nan_to_num(bounds.high, nan=far)}


def _edge(scene: Scene, name: str, values: Floats, role: str, look: Look) -> Part:
    rows = _corners(values)
    part: Part = {
        "type": "scatter",
        "mode": "lines",
        "x": scene.steps[rows].astype(int).tolist(),
        "y": [float(f"{value:.5g}") for value in values[rows]],
        "line": {"width": 0, "shape": "linear"},
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"metric": name, "role": role},
    }
    return part if role == "low" else {**part, "fill": "tonexty", "fillcolor": look.palette.band}


def _corners(values: Floats) -> Any:
    """Rows at which a bound changes, its ends included; a constant needs two."""
    if len(values) < 3:
        return np.arange(len(values))
    change = np.abs(np.diff(values)) > 1e-3 * (np.abs(values[1:]) + 1e-12)
    rows = np.flatnonzero(change)
    rows = np.unique(np.concatenate([[0], rows, rows + 1, [len(values) - 1]]))
    return rows[kept(values[rows], 400)]


def visible_limits(scene: Scene, names: Sequence[str], axis: Axis) -> list[Limit]:
    """Thresholds of the first metric that can be seen, the worst first, each height once."""
    found = sorted(scene.limits(names[0]), key=lambda limit: -limit.severity) if names else []
    seen: dict[float, Limit] = {}
    for limit in found:
        if axis.holds(limit.value):
            seen.setdefault(limit.value, limit)
    return list(seen.values())[:MAX_LIMITS]


def shapes(scene: Scene, names: Sequence[str], look: Look, axis: Axis, picked: str | None) -> list[Part]:
    """Findings as tints, thresholds and baseline as lines, attempts as hairlines."""
    drawn = [part for finding in on(scene, names, picked) for part in _tints(finding, look, picked)]
    drawn += [
        _level(limit.value, look.palette.of(limit.severity), "dash") for limit in visible_limits(scene, names, axis)
    ]
    base = scene.baseline(names[0]) if names else None
    if base is not None and axis.holds(base):
        drawn.append(_level(base, look.palette.faint, "dot"))
    return drawn + [_hairline(float(scene.steps[row]), look) for row in scene.breaks]


def on(scene: Scene, names: Sequence[str], picked: str | None) -> list[Finding]:
    """Findings to show in a chart: those that look at its first metric, and the one picked."""
    mine = scene.findings_on(names[0]) if names else []
    chosen = scene.finding(picked)
    return [*mine, chosen] if chosen and chosen not in mine else mine


def _tints(finding: Finding, look: Look, picked: str | None) -> list[Part]:
    colour, mine = look.palette.of(finding.peak), finding.id == picked
    spans = finding.episodes or ((finding.first_step, finding.last_step),)
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": first - 0.5,
            "x1": last + 0.5,
            "y0": 0,
            "y1": 1,
            "fillcolor": tint(colour, 0.16 if mine else 0.06),
            "line": {"width": 0},
            "layer": "below",
        }
        for first, last in spans[:40]
        if finding.peak > Severity.INFO or mine
    ]


def _level(value: float, colour: str, dash: str) -> Part:
    line = {"color": colour, "width": 1, "dash": dash}
    place = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": value, "y1": value}
    return {"type": "line", **place, "line": line, "opacity": 0.8, "layer": "below"}


def _hairline(step: float, look: Look) -> Part:
    line = {"color": look.palette.faint, "width": 1, "dash": "dot"}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": step, "x1": step, "y0": 0, "y1": 1, "line": line}


def labels(scene: Scene, names: Sequence[str], look: Look, axis: Axis, *, stacked: bool) -> list[Part]:
    """Values of bounds, thresholds and baseline at the right edge, or the lines' names where there are several."""
    if len(names) > 1:
        return _spread(_names(scene, names, look, stacked=stacked), axis)
    drawn = [
        _label(limit.value, number(limit.value), look.palette.of(limit.severity), f"{limit.rule}: {limit.name}")
        for limit in visible_limits(scene, names, axis)
    ]
    if names:
        drawn += _bound_labels(scene, names[0], look, axis) + _base_label(scene, names[0], look, axis)
    return _spread(drawn, axis) + [_attempt(scene, number_, look) for number_ in range(len(scene.breaks))]


def _bound_labels(scene: Scene, name: str, look: Look, axis: Axis) -> list[Part]:
    bounds = scene.bounds(name)
    ends = [_last(bounds.low), _last(bounds.high)] if bounds else []
    return [
        _label(end, number(end), look.palette.healthy, f"healthy bound: {bounds.source}")
        for end in ends
        if bounds and end is not None and axis.holds(end)
    ]


def _base_label(scene: Scene, name: str, look: Look, axis: Axis) -> list[Part]:
    base = scene.baseline(name)
    if base is None or not axis.holds(base):
        return []
    return [_label(base, f"b {number(base)}", look.palette.faint, f"baseline of this run: {number(base)}")]


def _names(scene: Scene, names: Sequence[str], look: Look, *, stacked: bool) -> list[Part]:
    """Each line's name where it ends (in a stack: in the middle of its layer)."""
    ends, below = [], 0.0
    for place, name in enumerate(names):
        last = _last(scene.values(name)) or 0.0
        height = below + last / 2 if stacked else last
        below += last
        ends.append(_label(height, cut(name.partition("/")[2] or name, 15), look.palette.runs[place % 8], name))
    return ends


def _label(height: float, text: str, colour: str, hover: str) -> Part:
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


def _spread(parts: list[Part], axis: Axis) -> list[Part]:
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


def marks(scene: Scene, names: Sequence[str], look: Look, picked: str | None) -> list[Part]:
    """Points on the edges: onsets of findings and non-finite steps on top, events at the foot."""
    parts = [_onsets(scene, names, look, picked), _nonfinite(scene, names, look), _events(scene, look)]
    return [part for part in parts if part["x"]]


def _edge_marks(role: str, x: list[int], height: float, texts: list[str], marker: Part) -> Part:
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


def _onsets(scene: Scene, names: Sequence[str], look: Look, picked: str | None) -> Part:
    found = [finding for finding in on(scene, names, picked) if finding.peak > Severity.INFO or finding.id == picked]
    marker = {"symbol": "triangle-down", "size": 9, "color": [look.palette.of(f.peak) for f in found]}
    part = _edge_marks("findings", [f.first_step for f in found], 1.0, [plain(f.name) for f in found], marker)
    return {**part, "customdata": [finding.id for finding in found]}


def _nonfinite(scene: Scene, names: Sequence[str], look: Look) -> Part:
    steps: list[int] = []
    texts: list[str] = []
    for name in names:
        if name in scene.run.nonfinite.columns:
            codes = scene.run.nonfinite[name].to_numpy()
            rows = np.flatnonzero(codes > 0)
            steps += scene.steps[rows].astype(int).tolist()
            texts += [f"{plain(name)}: {WORDS[int(code)]}" for code in codes[rows]]
    line = {"width": 2, "color": look.palette.sick}
    return _edge_marks("nonfinite", steps, 0.95, texts, {"symbol": "x-thin-open", "size": 7, "line": line})


def _events(scene: Scene, look: Look) -> Part:
    found = [(event.step, kind) for event in scene.run.events if event.step is not None and (kind := glyph(event.kind))]
    last = scene.run.steps[1] if scene.run.steps else 0
    found += [(last, "incident") for incident in scene.diagnosis.incidents if incident.severity > Severity.INFO][:1]
    colours = [look.palette.sick if kind == "incident" else look.palette.faint for _, kind in found]
    marker = {
        "symbol": [GLYPHS.get(kind, "star-triangle-up-open") for _, kind in found],
        "size": 6,
        "color": colours,
        "line": {"width": 1, "color": colours},
    }
    return _edge_marks("events", [step for step, _ in found], 0.0, [plain(kind) for _, kind in found], marker)


def glyph(kind: str) -> str:
    """The glyph's name of an event, "" for one that is not drawn."""
    return next((name for name in GLYPHS if kind.startswith(name)), "")
