"""What stands around a line: healthy band, thresholds, baseline, findings, events, attempts, non-finite steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from klinic.dashboards.figures.arrays import Floats, kept
from klinic.dashboards.figures.frame import Axis
from klinic.dashboards.figures.limits import Limit
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.theme import Look, tint
from klinic.diagnostics.engine.model import Finding, Severity

Part = dict[str, Any]
MAX_LIMITS = 3


def near(scene: Scene, names: Sequence[str]) -> tuple[float, ...]:
    """Levels worth keeping in sight: the last healthy bounds and the thresholds of the first metric."""
    if not names:
        return ()
    bounds = scene.bounds(names[0])
    ends = (last_value(bounds.low), last_value(bounds.high)) if bounds else ()
    return tuple(end for end in ends if end is not None)


def last_value(values: Floats) -> float | None:
    """The last finite value."""
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
    far = 10 * max([top, *(float(np.abs(end).max()) for end in ends if len(end))], default=1.0)
    return {"low": np.nan_to_num(bounds.low, nan=-far), "high": np.nan_to_num(bounds.high, nan=far)}


def _edge(scene: Scene, name: str, values: Floats, role: str, look: Look) -> Part:
    rows = _corners(values)
    part: Part = {
        "type": "scatter",
        "mode": "lines",
        "x": scene.steps[rows].astype(int).tolist(),
        "y": [float(f"{value:.5g}") for value in values[rows]],
        "line": {"width": 0, "simplify": False},
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
    base = scene.baseline(names[0]) if len(names) == 1 else None
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
