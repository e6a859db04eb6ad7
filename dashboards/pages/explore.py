"""The metric explorer: any metric of any runs, by name or regular expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from dash import ClientsideFunction, Dash, Input, Output, dcc, html

from klinic.dashboards.figures.overlay import Across, Named, overlay
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.figures.view import View
from klinic.dashboards.pages import several
from klinic.dashboards.pages.context import Context, look_of, one, query
from klinic.dashboards.views.charts import graph, unit_of
from klinic.dashboards.views.parts import Component, message
from klinic.dashboards.words import meaning, retold_in, speaker, unit_word
from klinic.diagnostics.engine.story import capital

Params = Mapping[str, list[str]]
MAX_CHARTS = 12
FIRST = "critic/score/mean|actor/ppo_kl|actor/entropy$|actor/grad_norm"


def layout(context: Context, look: Look, search: str) -> Component:
    """Controls above, charts below; what they say stands in the URL."""
    params, say = query(search), speaker(look.lang)
    ids = several.offered(context)
    picked = several.chosen(context, params.get("run", [])) or ids[:1]
    title = html.H1(say("explore.title"), className="sr")
    stores = [dcc.Store(id="explore-known", data={}), dcc.Store(id="explore-window")]
    shown = html.Div(id="explore-body")
    return html.Div([title, context.clock("explore-tick"), *stores, _controls(params, ids, picked, look), shown])


def _controls(params: Params, ids: Sequence[str], picked: Sequence[str], look: Look) -> Component:
    say = speaker(look.lang)
    runs = dcc.Dropdown(
        id="explore-runs",
        options=list(ids),
        value=list(picked),
        multi=True,
        placeholder=say("explore.runs"),
        labels=several.choice_labels(look.lang),
    )
    pattern = dcc.Input(
        id="explore-pattern",
        type="search",
        value=one(params, "m", FIRST),
        debounce=0.3,
        maxLength=300,
        placeholder=say("explore.pattern"),
    )
    made = [field(say("explore.runs"), runs, "wide"), field(say("explore.metrics"), pattern, "wide")]
    return html.Div([*made, *_ways(params, look)], className="card controls")


def _ways(params: Params, look: Look) -> list[Component]:
    """How the values are shown: x axis, log scale, smoothing."""
    say, kind = speaker(look.lang), kind_of(one(params, "x"))
    axes = [{"label": say(f"explore.x.{kind}"), "value": kind} for kind in ("step", "time", "tokens")]
    across = dcc.RadioItems(id="explore-x", options=axes, value=kind, inline=True, className="radio")
    options = [{"label": say("explore.log"), "value": "log"}]
    chosen = ["log"] if one(params, "log") else []
    log = dcc.Checklist(id="explore-log", options=options, value=chosen, className="radio")
    span = dcc.Input(
        id="explore-span",
        type="number",
        min=0,
        max=several.MAX_SPAN,
        step=1,
        value=several.steps(one(params, "span")),
        debounce=0.3,
    )
    return [field(say("explore.x"), across), field("", log), field(say("explore.smooth"), span)]


def field(label: str, control: Component, kind: str = "") -> Component:
    """A control under its label."""
    return html.Label([html.Span(label), control], className=f"field {kind}")


def _export(look: Look) -> Component:
    kinds = ("png", "svg", "csv", "html")
    buttons = [html.Button(kind.upper(), className="button", type="button", **{"data-export": kind}) for kind in kinds]
    label = html.Span(speaker(look.lang)("explore.export"), className="meta")
    return html.Div([label, *buttons], className="buttons export")


def kind_of(text: str) -> Across:
    """What x counts, steps for anything unknown."""
    return "time" if text == "time" else "tokens" if text == "tokens" else "step"


def matching(runs: Sequence[Named], pattern: str) -> list[str]:
    """Metrics of any of the runs that a regular expression finds, in order of appearance. Raises ValueError.

    The expression is read by Rust's engine, whose time is linear: no pattern that somebody types stops the server.
    """
    names = list(dict.fromkeys(name for run in runs for name in run.scene.run.metrics))
    try:
        found = pl.Series(names, dtype=pl.String).str.contains(pattern[:300])
    except pl.exceptions.ComputeError as error:
        raise ValueError(_trouble(str(error))) from None
    return [name for name, hit in zip(names, found, strict=True) if hit]


def _trouble(text: str) -> str:
    """What the engine has against an expression, without its own surroundings."""
    lines = text.removeprefix("regex error: ").splitlines()
    return next((line.removeprefix("error: ") for line in lines if line.startswith("error: ")), lines[0])


def body(runs: Sequence[Named], pattern: str, look: Look, view: View, kind: Across) -> Component:
    """A chart a metric, or why there is none."""
    say = speaker(look.lang)
    try:
        names = matching(runs, pattern)
    except ValueError as error:
        why = say("explore.bad.why", why=capital(retold_in(str(error), look.lang)))
        return message(say("explore.bad"), why, html.Code(pattern), kind="error")
    if not names:
        return message(say("explore.none"), say("explore.none.why"))
    note = html.P(say("explore.more", n=len(names), m=MAX_CHARTS), className="meta")
    more = [note] if len(names) > MAX_CHARTS else []
    top = html.Div([html.Div([legend(runs), *more]), _export(look)], className="top over")
    drawn = [chart(runs, name, look, view, kind) for name in names[:MAX_CHARTS]]
    title = html.H2(say("explore.metrics"), className="sr")
    return html.Section([title, top, html.Div(drawn, className="charts")], className="card")


def chart(runs: Sequence[Named], name: str, look: Look, view: View, kind: Across) -> Component:
    """One metric of all runs."""
    unit = html.Span(unit_word(unit_of(name), look.lang), className="unit")
    title = html.Figcaption([html.H3([html.Code(name), unit])], title=meaning(name, look.lang))
    return html.Figure([title, graph(name, overlay(runs, name, look, view, kind))], className="chart")


def legend(runs: Sequence[Named]) -> Component:
    """The runs in their colours; nothing where there is only one."""
    items = [html.Li([html.Span(className=f"swatch run-{place % 8}"), run.name]) for place, run in enumerate(runs)]
    return html.Ul(items if len(runs) > 1 else [], className="legend")


def register(app: Dash, context: Context) -> None:
    """The callbacks of the page."""

    def show(ids: Any, pattern: Any, kind: Any, log: Any, span: Any, window: Any, ui: Any) -> Any:
        entries, across = several.readable(context, ids or []), kind_of(str(kind))
        view = several.viewed(window, across, span=span, log=bool(log))
        drawn = body(several.named(entries), str(pattern or ""), look_of(ui), view, across)
        return drawn, several.known_of(entries)

    def charts(
        runs: Sequence[Named], pattern: Any, kind: Any, _log: Any, span: Any, _window: Any, _ui: Any
    ) -> several.Charts:
        return matching(runs, str(pattern or ""))[:MAX_CHARTS], View(span=several.steps(span)), kind_of(str(kind))

    several.keep_up(app, context, "explore", ("pattern", "x", "log", "span"), show, charts)

    app.clientside_callback(
        ClientsideFunction("klinic", "explored"),
        Output("explore-runs", "className"),
        Input("explore-runs", "value"),
        Input("explore-pattern", "value"),
        Input("explore-x", "value"),
        Input("explore-log", "value"),
        Input("explore-span", "value"),
    )
