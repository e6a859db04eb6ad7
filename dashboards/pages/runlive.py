"""The run page's callbacks: what a click shows and what a tick brings, from the shelf by pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, no_update

from klinic.dashboards.figures.arrays import POINTS
from klinic.dashboards.figures.theme import Lang, Look
from klinic.dashboards.live import MAX_ROWS, fresh
from klinic.dashboards.pages.context import Context, look_of
from klinic.dashboards.pages.run import body, chart_view
from klinic.dashboards.pages.runparts import PARTS, news_of
from klinic.dashboards.panels import panel
from klinic.dashboards.store import Entry
from klinic.dashboards.views import banner, finding, tables, timeline

Seen = Mapping[str, Any]


def register(app: Dash, context: Context) -> None:
    """The callbacks of the page."""
    _register_views(app, context)
    _register_zoom(app, context)
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


def _register_views(app: Dash, context: Context) -> None:
    def show(view: Any, _redraw: Any, window: Any, seen: Any, ui: Any) -> Any:
        entry, look = context.shelf.entry(seen["run"]), look_of(ui)
        if entry is None or entry.scene is None:
            return no_update, no_update, no_update
        picked = view.get("finding")
        rows = timeline.timeline(entry, look.lang, picked)
        return body(entry, look, view, window), rows, finding.detail(entry, look.lang, picked)

    app.callback(
        Output("run-body", "children"),
        Output("run-timeline", "children"),
        Output("run-detail", "children"),
        Input("view", "data"),
        Input("redraw", "data"),
        State("window", "data"),
        State("seen", "data"),
        State("ui", "data"),
        prevent_initial_call=True,
    )(show)

    def config(needle: Any, show: Any, seen: Any, ui: Any) -> Any:
        entry = context.shelf.entry(seen["run"])
        if entry is None or entry.run is None:
            return no_update
        return tables.config_table(entry.run, str(needle or "")[:200], str(show), look_of(ui).lang)

    app.callback(
        Output("config-table", "children"),
        Input("config-search", "value"),
        Input("config-show", "value"),
        State("seen", "data"),
        State("ui", "data"),
    )(config)


def _register_zoom(app: Dash, context: Context) -> None:
    def zoom(window: Any, seen: Any, view: Any, ui: Any) -> Any:
        """Finer points of a long run; a short one is drawn whole already."""
        entry = context.shelf.entry(seen["run"])
        if entry is None or entry.scene is None or entry.scene.run.frame.height <= POINTS // 2:
            return no_update
        return body(entry, look_of(ui), view, window)

    app.callback(
        Output("run-body", "children", allow_duplicate=True),
        Input("zoomed", "data"),
        State("seen", "data"),
        State("view", "data"),
        State("ui", "data"),
        prevent_initial_call=True,
    )(zoom)


def _register_tick(app: Dash, context: Context) -> None:
    def tick(_n: Any, seen: Seen, view: Any, window: Any, ui: Any) -> Any:
        entry, look = context.shelf.entry(seen["run"]), look_of(ui)
        progress = _progress(entry, look.lang)
        if entry is None or entry.scene is None or entry.stamp == seen["version"]:
            return [no_update, no_update, no_update, progress, *(no_update for _ in PARTS)]
        news, now, redraw = _moved(entry, seen, look, view, window)
        return [news, now, redraw, banner.progress(entry, look.lang), *_changed(entry, seen, now, look.lang, view)]

    app.callback(
        Output("fresh", "data", allow_duplicate=True),
        Output("seen", "data"),
        Output("redraw", "data"),
        Output("run-progress", "children"),
        *(Output(f"run-{name}", "children", allow_duplicate=True) for name in PARTS),
        Input("run-tick", "n_intervals"),
        State("seen", "data"),
        State("view", "data"),
        State("window", "data"),
        State("ui", "data"),
        prevent_initial_call=True,
    )(tick)


def _progress(entry: Entry | None, lang: Lang) -> Any:
    """What moves without a new step: how long a run was silent, or that it is gone."""
    if entry is None:
        return banner.gone(lang)
    return banner.progress(entry, lang) if entry.state() in ("running", "stalled") else no_update


def _moved(entry: Entry, seen: Seen, look: Look, view: Any, window: Any) -> tuple[Any, dict[str, Any], Any]:
    """New numbers and points, what the page knows then, and the sign to draw its charts anew."""
    (moved, now), found, scene = news_of(entry, look, view, seen), panel(str(view["tab"])), entry.scene
    news = {**moved, "steps": entry.run.steps if entry.run else None}
    anew = entry.epoch != seen["epoch"] or now["rows"] - seen["rows"] > MAX_ROWS
    if scene is None or found is None or anew:
        return news, now, entry.stamp if anew else no_update
    chosen = found.charts(scene)
    known = max(seen["rows"] - 1, 0)  # values may join the last row later: a validation, a second line of its step
    points, now["charts"] = fresh(scene, chosen, look, chart_view(view, window), known, seen["charts"])
    return {**news, "charts": points}, now, no_update


def _changed(entry: Entry, seen: Seen, now: Seen, lang: Lang, view: Any) -> list[Any]:
    """The parts of the page whose marks changed."""
    return [
        part.draw(entry, lang, view) if now["parts"][name] != seen["parts"].get(name) else no_update
        for name, part in PARTS.items()
    ]
