"""The run page: layout from the URL, and the thin callbacks that keep it up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import dcc, html

from klinic.dashboards.figures.theme import Lang, Look
from klinic.dashboards.figures.view import View
from klinic.dashboards.live import Marks, fresh
from klinic.dashboards.pages.context import Context, floating, one, query
from klinic.dashboards.pages.runparts import seen_of
from klinic.dashboards.panels import panel, panels
from klinic.dashboards.store import Entry
from klinic.dashboards.views import banner, charts, finding, tables, timeline, vitals
from klinic.dashboards.views.parts import Component, loading, message, named_field
from klinic.dashboards.views.prescription import prescription
from klinic.dashboards.views.tabs import TABLES, first_tab, tabs
from klinic.dashboards.words import Say, retold_in, speaker


def layout(context: Context, look: Look, search: str) -> Component:
    """The page of the run that the URL names, or why there is none."""
    params, say = query(search), speaker(look.lang)
    name = one(params, "run")
    entry = context.shelf.entry(name)
    if entry is None and context.begins(name):
        return context.wait(name, message(say("run.begins"), say("run.begins.why.empty"), kind="waiting"))
    if entry is None and context.shelf.ready.is_set():
        why = say("run.missing.why", id=name, roots=context.roots)
        return context.wait(name, message(say("run.missing"), why, _home(say), kind="error"))
    if entry is not None and entry.standing == "broken":
        return message(
            say("run.broken"), retold_in(entry.problem, look.lang), html.Code(entry.path), _home(say), kind="error"
        )
    view = dcc.Store(id="view", data=view_of(params, first_tab(entry)))
    if entry is None or entry.standing == "waiting":
        return context.wait(name, loading(say("run.loading")))
    return html.Div(
        [view, context.clock("run-tick"), *_stores(entry, look, view.data), *_parts(entry, look, view.data)],
        className="run",
    )


def _home(say: Say) -> Component:
    return dcc.Link(say("nav.runs"), href="/", className="button")


def view_of(params: Mapping[str, list[str]], first: str = "vitals") -> dict[str, Any]:
    """The state of the page as the URL has it; `first` is the tab where it names none."""
    tab = one(params, "tab", first)
    known = {*TABLES, *(found.name for found in panels())}
    window = [floating(one(params, "from")), floating(one(params, "to"))]
    span = floating(one(params, "span"))
    return {
        "tab": tab if tab in known else first,
        "finding": one(params, "finding") or None,
        "window": window if None not in window else None,
        "span": int(min(max(span or 0, 0), 1000)),
    }


def _stores(entry: Entry, look: Look, view: Mapping[str, Any]) -> list[Component]:
    return [
        dcc.Store(id="seen", data=seen_of(entry, look, view, _known(entry, look, view))),
        dcc.Store(id="window", data=view["window"]),
        dcc.Store(id="zoomed"),
        dcc.Store(id="redraw", data=0),
    ]


def _known(entry: Entry, look: Look, view: Mapping[str, Any]) -> dict[str, Marks]:
    """Marks of what stands around the lines of the charts shown."""
    found, scene = panel(str(view["tab"])), entry.scene
    return fresh(scene, found.charts(scene), look, chart_view(view, None), scene.rows, {})[1] if found and scene else {}


def _parts(entry: Entry, look: Look, view: Mapping[str, Any]) -> list[Component]:
    say, lang = speaker(look.lang), look.lang
    top = html.Div([banner.head(entry, lang), _actions(entry, lang)], className="top")
    rows = html.Div(timeline.timeline(entry, lang, view["finding"]), id="run-timeline")
    about = html.Div(finding.detail(entry, lang, view["finding"]), id="run-detail")
    shown = html.Div(body(entry, look, view, None), id="run-body", role="tabpanel")
    return [
        top,
        html.Div(banner.banner(entry, lang), id="run-banner"),
        html.Section(
            vitals.cards(entry, lang), id="run-vitals", className="vitals", **{"aria-label": say("run.vitals")}
        ),
        html.Div(finding.incidents(entry, lang), id="run-incidents"),
        html.Section([html.H2(say("run.findings")), rows, about], className="card"),
        html.Section([html.Div(tabs(entry, lang, view), id="run-tabs"), _reset(say), shown], className="card panels"),
        html.Div(prescription(entry, lang), id="run-prescription"),
    ]


def _actions(entry: Entry, lang: Lang) -> Component:
    say = speaker(lang)
    link = html.A(
        say("run.report"), href=f"/report?run={_quoted(entry.id)}&lang={lang}", className="button", download=""
    )
    return html.Div([link], className="buttons")


def _reset(say: Say) -> Component:
    """Back to all steps; seen only while a part of them is shown."""
    return html.Button(say("run.reset"), id="view-window", className="button small reset", type="button")


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def body(entry: Entry, look: Look, view: Mapping[str, Any], window: list[float] | None) -> Component:
    """What the chosen tab shows."""
    tab, scene = str(view.get("tab")), entry.scene
    found = panel(tab)
    if found is not None and scene is not None:
        return charts.charts(scene, found, look, chart_view(view, window))
    if tab == "config" and entry.run is not None:
        return _config(entry, look.lang)
    if tab == "samples" and entry.run is not None:
        return tables.samples(entry.run, look.lang)
    return tables.log(entry, look.lang)


def chart_view(view: Mapping[str, Any], window: list[float] | None) -> View:
    """How the page looks at its charts."""
    first, last = window or view.get("window") or (None, None)
    return View(first, last, view.get("finding"), int(view.get("span") or 0))


def _config(entry: Entry, lang: Lang) -> Component:
    say = speaker(lang)
    options = [{"label": say(f"config.{key}"), "value": key} for key in ("set", "changed", "every")]
    search = dcc.Input(id="config-search", placeholder=say("config.search"), type="search", debounce=0.2, maxLength=200)
    show = "set" if entry.run and entry.run.config.user else "every"
    choose = dcc.RadioItems(id="config-show", options=options, value=show, inline=True, className="radio")
    return html.Div(
        [
            html.Div([named_field(say("config.search"), search), choose], className="filters"),
            html.Div(id="config-table"),
        ]
    )
