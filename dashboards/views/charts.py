"""A panel's charts as cards with a title, the metric's own name and its unit."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from klinic.dashboards.figures.chart import Chart, Figure, figure, shown
from klinic.dashboards.figures.frame import CONFIG, HEIGHT
from klinic.dashboards.figures.scene import Scene, signs
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.figures.view import View
from klinic.dashboards.panels import Panel
from klinic.dashboards.views.parts import Component, message
from klinic.dashboards.words import chart_title, meaning, speaker, unit_word
from klinic.diagnostics.knowledge import metric


def charts(scene: Scene, panel: Panel, look: Look, view: View) -> Component:
    """The charts of a panel for which the run has metrics."""
    drawn = [chart_card(scene, chart, look, view) for chart in panel.charts(scene)]
    if not drawn:
        say = speaker(look.lang)
        return message(say(f"tab.{panel.name}"), say("run.nocharts"))
    return html.Div(drawn, className="charts")


def chart_card(scene: Scene, chart: Chart, look: Look, view: View) -> Component:
    """One chart."""
    names = shown(scene, chart)
    return html.Figure(
        [caption(chart, names, look), graph(chart.key, figure(scene, chart, look, view))], className="chart"
    )


def caption(chart: Chart, names: list[str], look: Look) -> Component:
    """Title, unit, and the metric's name in mono."""
    unit = html.Span(unit_word(unit_of(names[0]), look.lang) if names else "", className="unit")
    key = names[0] if len(names) == 1 else ", ".join(chart.metrics[:1]) + (" …" if len(names) > 1 else "")
    about = meaning(names[0], look.lang) if names else ""
    heading = html.H3([chart_title(chart.key, look.lang), unit])
    return html.Figcaption([heading, html.Code(key, title="\n".join(names))], title=about)


def unit_of(name: str) -> str:
    """A metric's unit: the one on its card where it is a vital sign; "" where nobody knows it."""
    sign = next((sign for sign in signs() if sign.metric == name), None)
    info = metric(name)
    return sign.unit if sign else info.unit if info else ""


def graph(key: str, drawn: Figure, **settings: Any) -> Component:
    """A figure as a graph; its key finds it when new points come."""
    return dcc.Graph(
        id={"chart": key},
        figure=drawn,
        config={**CONFIG, **settings},
        responsive=True,
        className="graph",
        style={"height": HEIGHT},
    )
