"""The run page's callbacks: what a click shows and what a tick brings, from the shelf by pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, no_update

from klinic.dashboards.figures.theme import Lang, Look
from klinic.dashboards.live import MAX_ROWS, fresh
from klinic.dashboards.pages.context import Context, look_of
from klinic.dashboards.pages.run import body, chart_view, seen_of
from klinic.dashboards.panels import panel
from klinic.dashboards.store import Entry
from klinic.dashboards.views import banner, finding, tables, timeline, vitals
from klinic.dashboards.views.prescription import prescription

Seen = Mapping[str, Any]


def register(app: Dash, context: Context) -> None:
    """The callbacks of the page."""
    _register_views(app, context)
    _register_tick(app, context)
    app.clientside_callback(
        ClientsideFunction("klinic", "view"),
        Output("view", "data"),
        Output("window", "data"),
        Input({"tab": ALL}, "n_clicks"),
        Input({"finding": ALL}, "n_clicks"),
        Input({"unpick": ALL}, "n_clicks"),
        State("view", "data"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("klinic", "apply"), Output("sink", "data"), Input("fresh", "data"), prevent_initial_call=True
    )


def _register_views(app: Dash, context: Context) -> None:
    @app.callback(
        Output("run-body", "children"),
        Output("run-timeline", "children"),
        Output("run-detail", "children"),
        Input("view", "data"),
        Input("redraw", "data"),
        State("window", "data"),
        State("seen", "data"),
        State("ui", "data"),
    )
    def show(view: Any, _redraw: Any, window: Any, seen: Any, ui: Any) -> Any:
        entry, look = context.shelf.entry(seen["run"]), look_of(ui)
        if entry is None or entry.scene is None:
            return no_update, no_update, no_update
        picked = view.get("finding")
        rows = timeline.timeline(entry, look.lang, picked)
        return body(entry, look, view, window), rows, finding.detail(entry, look.lang, picked)

    @app.callback(
        Output("config-table", "children"),
        Input("config-search", "value"),
        Input("config-show", "value"),
        State("seen", "data"),
        State("ui", "data"),
    )
    def config(needle: Any, show: Any, seen: Any, ui: Any) -> Any:
        entry = context.shelf.entry(seen["run"])
        if entry is None or entry.run is None:
            return no_update
        return tables.config_table(entry.run, str(needle or "")[:200], str(show), look_of(ui).lang)


def _register_tick(app: Dash, context: Context) -> None:
    @app.callback(
        Output("fresh", "data"),
        Output("seen", "data"),
        Output("redraw", "data"),
        Output("run-progress", "children"),
        Output({"vital": ALL}, "children"),
        Output({"vital": ALL}, "className"),
        Output("run-banner", "children"),
        Output("run-timeline", "children", allow_duplicate=True),
        Output("run-incidents", "children"),
        Output("run-prescription", "children"),
        Input("run-tick", "n_intervals"),
        State("seen", "data"),
        State("view", "data"),
        State("window", "data"),
        State("ui", "data"),
        State({"vital": ALL}, "id"),
        prevent_initial_call=True,
    )
    def tick(_n: Any, seen: Seen, view: Any, window: Any, ui: Any, cards: Any) -> Any:
        entry, lang = context.shelf.entry(seen["run"]), look_of(ui).lang
        same: list[Any] = [no_update] * 4 + [[no_update] * len(cards)] * 2 + [no_update] * 4
        if entry is None or entry.scene is None:
            return same
        same[3] = banner.progress(entry, lang) if entry.state() in ("running", "stalled") else no_update
        if entry.stamp == seen["version"]:
            return same
        return [*_moved(entry, seen, look_of(ui), view, window), *_told(entry, seen, lang, view, cards)]

    return


def _moved(entry: Entry, seen: Seen, look: Look, view: Any, window: Any) -> list[Any]:
    """New points of the charts in view, or the sign to draw them anew."""
    now, found, scene = seen_of(entry, seen["charts"]), panel(str(view["tab"])), entry.scene
    grown = now["rows"] - seen["rows"]
    if scene is None or entry.epoch != seen["epoch"] or grown > MAX_ROWS:
        return [no_update, now, entry.stamp]
    if found is None:
        return [no_update, now, no_update]
    news, now["charts"] = fresh(
        scene, found.charts(scene), look, chart_view(view, window), seen["rows"], seen["charts"]
    )
    return [news, now, no_update]


def _told(entry: Entry, seen: Seen, lang: Lang, view: Any, cards: Any) -> list[Any]:
    """Progress and vital signs; banner, timeline and prescription only where the judgement changed."""
    found = {vital.name: vital for vital in entry.diagnosis.vitals} if entry.diagnosis else {}
    mine = [found.get(card["vital"]) for card in cards]
    faces = [vitals.face(vital, lang) if vital else no_update for vital in mine]
    classes = [f"vital {vital.status}" if vital else no_update for vital in mine]
    parts: list[Any] = [banner.progress(entry, lang), faces, classes]
    if seen_of(entry)["mark"] == seen["mark"]:
        return [*parts, no_update, no_update, no_update, no_update]
    rows = timeline.timeline(entry, lang, view.get("finding"))
    return [*parts, banner.banner(entry, lang), rows, finding.incidents(entry, lang), prescription(entry, lang)]
