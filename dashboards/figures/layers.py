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
from klinic.dashboards.figures.view import View
from klinic.diagnostics.engine.model import Finding, Severity

Part = dict[str, Any]
MAX_LIMITS = 3
APART = 150  # a gap in a finding is seen from one part in so many of the steps shown


def near(scene: Scene, names: Sequence[str]) -> tuple[float, ...]:
    """Levels worth keeping in sight: the last healthy bounds and the thresholds of the first metric."""
    if not names:
        return ()
    bounds = scene.bounds(names[0])
    return tuple(end for end in (bounds.last if bounds else ()) if end is not None)


def band(scene: Scene, names: Sequence[str], look: Look) -> list[Part]:
    """The healthy range of the first metric as a soft fill; an open end runs out of the picture."""
    bounds = scene.bounds(names[0]) if names and len(scene.steps) else None
    if bounds is None:
        return []
    return [_edge(scene, names[0], values, role, look) for role, values in band_ends(scene, names[0]).items()]


def band_ends(scene: Scene, name: str, first: int = 0) -> dict[str, Floats]:
    """Both edges of the band a row, from a row on; an open one lies far outside of every value."""
    bounds = scene.bounds(name)
    if bounds is None:
        return {}
    far = 10 * max([float(np.abs(scene.telling(name)).max(initial=1.0)), *(abs(end) for end in bounds.last if end)])
    low, high = bounds.low[first:], bounds.high[first:]
    return {"low": np.where(np.isnan(low), -far, low), "high": np.where(np.isnan(high), far, high)}


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
    with np.errstate(all="ignore"):  # bounds may be infinite, or as large as floats go
        change = np.abs(np.diff(values)) > 1e-3 * (np.abs(values[1:]) + 1e-12)
    corner = np.zeros(len(values), np.bool_)
    corner[:-1] |= change
    corner[1:] |= change
    corner[[0, -1]] = True
    rows = np.flatnonzero(corner)
    return rows[kept(values[rows], 400)]


def visible_limits(scene: Scene, names: Sequence[str], axis: Axis) -> list[Limit]:
    """Thresholds of the first metric that can be seen, the worst first, each height once."""
    found = sorted(scene.limits(names[0]), key=lambda limit: -limit.severity) if names else []
    seen: dict[float, Limit] = {}
    for limit in found:
        if axis.holds(limit.value):
            seen.setdefault(limit.value, limit)
    return list(seen.values())[:MAX_LIMITS]


def shapes(scene: Scene, names: Sequence[str], look: Look, axis: Axis, view: View) -> list[Part]:
    """Findings as tints, thresholds and baseline as lines, attempts as hairlines."""
    first, last = view.window or scene.run.steps or (0, 0)
    found = on(scene, names, view.finding)
    spans = {one.id: scene.spans(one.id, (last - first) / APART) for one in found}
    drawn = [_tint(one, spans[one.id], look, mine=one.id == view.finding) for one in found]
    drawn += [
        _level(limit.value, look.palette.of(limit.severity), "dash") for limit in visible_limits(scene, names, axis)
    ]
    base = scene.baseline(names[0]) if len(names) == 1 else None
    if base is not None and axis.holds(base):
        drawn.append(_level(base, look.palette.faint, "dot"))
    return drawn + [_hairline(float(scene.steps[row]), look) for row in scene.breaks]


def on(scene: Scene, names: Sequence[str], picked: str | None) -> list[Finding]:
    """Findings to show in a chart: those of note that look at its first metric, and the one picked."""
    mine = [one for one in scene.findings_on(names[0]) if one.peak > Severity.INFO] if names else []
    chosen = scene.finding(picked)
    return [*mine, chosen] if chosen and chosen not in mine else mine


def _tint(finding: Finding, spans: Sequence[tuple[int, int]], look: Look, *, mine: bool) -> Part:
    """All steps of a finding as one shape: a run may have thousands of its episodes."""
    return {
        "type": "path",
        "xref": "x",
        "yref": "paper",
        "path": "".join(f"M{first - 0.5},0V1H{last + 0.5}V0Z" for first, last in spans),
        "fillcolor": tint(look.palette.of(finding.peak), 0.16 if mine else 0.06),
        "line": {"width": 0},
        "layer": "below",
    }


def _level(value: float, colour: str, dash: str) -> Part:
    line = {"color": colour, "width": 1, "dash": dash}
    place = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": value, "y1": value}
    return {"type": "line", **place, "line": line, "opacity": 0.8, "layer": "below"}


def _hairline(step: float, look: Look) -> Part:
    line = {"color": look.palette.faint, "width": 1, "dash": "dot"}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": step, "x1": step, "y0": 0, "y1": 1, "line": line}
