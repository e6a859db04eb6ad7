"""Points on the edges of a chart: onsets of findings and non-finite steps on top, events at the foot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from klinic.dashboards.figures.layers import on
from klinic.dashboards.figures.line import crosses, on_edge
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.text import plain
from klinic.dashboards.figures.theme import Lang, Look
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.run.model import WORDS

Part = dict[str, Any]
GLYPHS = {
    "checkpoint": "square-open",
    "resumed": "triangle-right",
    "reward": "diamond",
    "validation": "circle-open",
    "stop": "x-thin-open",
    "alert": "triangle-up",
}
ZH = {
    "checkpoint": "检查点",
    "resumed": "恢复训练",
    "reward": "更换奖励",
    "validation": "验证",
    "stop": "停止",
    "alert": "告警",
    "incident": "事故",
}


def marks(scene: Scene, names: Sequence[str], look: Look, picked: str | None) -> list[Part]:
    """Points on the edges: onsets of findings and non-finite steps on top, events at the foot."""
    parts = [_onsets(scene, names, look, picked), _nonfinite(scene, names, look), _events(scene, look)]
    return [part for part in parts if part["x"]]


def _onsets(scene: Scene, names: Sequence[str], look: Look, picked: str | None) -> Part:
    found = on(scene, names, picked)
    marker = {"symbol": "triangle-down", "size": 9, "color": [look.palette.of(f.peak) for f in found]}
    part = on_edge("findings", [f.first_step for f in found], 1.0, [plain(f.name) for f in found], marker)
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
    return crosses(steps, texts, look)


def _events(scene: Scene, look: Look) -> Part:
    found = [(event.step, kind) for event in scene.run.events if event.step is not None and (kind := glyph(event.kind))]
    last = scene.run.steps[1] if scene.run.steps else 0
    incidents = scene.diagnosis.incidents if scene.diagnosis else ()
    found += [(last, "incident") for incident in incidents if incident.severity > Severity.INFO][:1]
    colours = [look.palette.sick if kind == "incident" else look.palette.faint for _, kind in found]
    marker = {
        "symbol": [GLYPHS.get(kind, "star-triangle-up-open") for _, kind in found],
        "size": 6,
        "color": colours,
        "line": {"width": 1, "color": colours},
    }
    return on_edge(
        "events", [step for step, _ in found], 0.0, [plain(said(kind, look.lang)) for _, kind in found], marker
    )


def said(kind: str, lang: Lang) -> str:
    """An event's kind in words."""
    return ZH.get(kind, kind) if lang == "zh" else kind


def glyph(kind: str) -> str:
    """The glyph's name of an event, "" for one that is not drawn."""
    return next((name for name in GLYPHS if kind.startswith(name)), "")
