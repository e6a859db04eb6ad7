"""Panels, one a file: `TITLE` is the key of its name, `ORDER` its place, `CHARTS` what it shows.

A file in this folder is a panel as soon as it is there; a panel that draws in its own way has a `figures` of its own.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from klinic.dashboards.figures.chart import Chart, Figure, figure, shown
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.figures.view import View

Charts = Callable[[Scene], tuple[Chart, ...]]


@dataclass(frozen=True)
class Panel:
    """A panel: `charts` names what a run has to show in it."""

    name: str
    order: int
    choose: Charts

    def charts(self, scene: Scene) -> tuple[Chart, ...]:
        """The charts for which the run has at least one metric."""
        return tuple(chart for chart in self.choose(scene) if shown(scene, chart))

    def figures(self, scene: Scene, look: Look, view: View | None = None) -> dict[str, Figure]:
        """Prebuilt figures by the charts' keys: a pure function of the run, its diagnosis and how to look at them."""
        return {chart.key: figure(scene, chart, look, view) for chart in self.charts(scene)}


@cache
def panels() -> tuple[Panel, ...]:
    """All panels in their order."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    return tuple(sorted(map(_panel, names), key=lambda panel: panel.order))


def _panel(name: str) -> Panel:
    module = import_module(f"{__name__}.{name}")
    return Panel(name, module.ORDER, module.charts)


def panel(name: str) -> Panel | None:
    """A panel by its name."""
    return next((found for found in panels() if found.name == name), None)
