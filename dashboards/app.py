"""The app: a shell with a router; every page registers its own callbacks; all state is the shelf's or the browser's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from flask import Flask

from klinic.dashboards.bundle import serve_bundles
from klinic.dashboards.download import serve_reports
from klinic.dashboards.export import serve_exports
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.guard import protect
from klinic.dashboards.loading import App
from klinic.dashboards.packed import pack
from klinic.dashboards.pages import compare, explore, run, runlive, runs, wall
from klinic.dashboards.pages.context import Context, look_of
from klinic.dashboards.store import Shelf
from klinic.dashboards.store.courtesy import observe
from klinic.dashboards.views.parts import Component, icon, message
from klinic.dashboards.words import speaker

FOLDER = Path(__file__).parent
Layout = Callable[[Context, Look, str], Component]
PAGES: dict[str, Layout] = {
    "/": runs.layout,
    "/run": run.layout,
    "/explore": explore.layout,
    "/compare": compare.layout,
    "/wall": wall.layout,
}
INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<title>{%title%}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
{%css%}
</head>
<body>
{%app_entry%}
<footer>{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>"""


def create_app(shelf: Shelf, *, refresh: float = 1.0, token: str = "") -> Dash:
    """A dashboard over a shelf. token: asked for at the first visit; "" asks for none. Raises nothing."""
    app = App(
        "klinic.dashboards",
        server=_server(),
        assets_folder=str(FOLDER / "assets"),
        include_assets_files=False,
        index_string=INDEX,
        title="klinic",
        update_title="",
        suppress_callback_exceptions=True,
        serve_locally=True,
        add_log_handler=False,
        enable_mcp=False,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    context = Context(shelf, refresh)
    app.layout = shell
    _route(app, context)
    for page in (runs, runlive, explore, compare, wall):
        page.register(app, context)
    serve_bundles(app.server)
    serve_reports(app.server, shelf)
    serve_exports(app.server, context)
    observe(app.server, shelf.courtesy)
    protect(app.server, token, lambda: app.callback_map)
    pack(app.server)
    return app


def _server() -> Flask:
    """A Flask that need not find its package: ours lies in a namespace, which Flask cannot place."""
    return Flask("klinic.dashboards", root_path=str(FOLDER), instance_path=str(FOLDER), static_folder=None)


def shell() -> Component:
    """What all pages share."""
    return html.Div(
        [
            dcc.Location(id="url", refresh="callback-nav"),
            dcc.Store(id="ui"),
            dcc.Store(id="fresh"),
            dcc.Store(id="sink"),
            html.Header(id="header"),
            html.Div(id="offline", className="offline", role="alert", hidden=True),
            html.Main(id="page", tabIndex=-1),
            html.Div(id="spoken", className="sr", **{"aria-live": "polite"}),
        ],
        className="shell",
    )


def header(look: Look, path: str) -> list[Component]:
    """Brand, pages, language and theme."""
    say = speaker(look.lang)
    gone = html.Span(say("offline"), id="offline-words", hidden=True)
    places = (("/", "nav.runs"), ("/explore", "nav.explore"), ("/compare", "nav.compare"), ("/wall", "nav.wall"))
    links = [dcc.Link(say(key), href=href, className="nav" + (" here" if href == path else "")) for href, key in places]
    lang = html.Button(
        say("nav.lang"), className="button quiet", type="button", title=say("nav.lang.label"), **{"data-ui": "lang"}
    )
    theme = html.Button(
        icon("theme"),
        className="button quiet",
        type="button",
        title=say("nav.theme"),
        **{"data-ui": "theme", "aria-label": say("nav.theme")},
    )
    return [
        html.A(say("nav.skip"), href="#page", className="skip"),
        dcc.Link([html.Span(className="mark", **{"aria-hidden": "true"}), "klinic"], href="/", className="brand"),
        html.Nav(links),
        gone,
        html.Div([lang, theme], className="buttons"),
    ]


def _route(app: Dash, context: Context) -> None:
    app.clientside_callback(
        ClientsideFunction("klinic", "ui"), Output("ui", "data"), Input("url", "href"), State("ui", "data")
    )

    app.clientside_callback(
        ClientsideFunction("klinic", "apply"), Output("sink", "data"), Input("fresh", "data"), prevent_initial_call=True
    )

    def page(ui: Any) -> Any:
        if not ui:
            return no_update, no_update
        look, path = look_of(ui), str(ui.get("path") or "/")
        return _drawn(context, look, path, str(ui.get("search") or "")), header(look, path)

    app.callback(
        Output("page", "children"),
        Output("header", "children"),
        Input("ui", "data"),
        prevent_initial_call=True,
    )(page)

    def waiting(_n: Any, what: Any, ui: Any) -> Any:
        if not context.arrived(what["run"], ready=what["ready"]):
            return no_update
        return _drawn(context, look_of(ui), str(ui.get("path") or "/"), str(ui.get("search") or ""))

    app.callback(
        Output("page", "children", allow_duplicate=True),
        Input("waiting-tick", "n_intervals"),
        State("waiting", "data"),
        State("ui", "data"),
        prevent_initial_call=True,
    )(waiting)


def _drawn(context: Context, look: Look, path: str, search: str) -> Component:
    """A page, or in its place what went wrong: one page's trouble is never the whole dashboard's."""
    say = speaker(look.lang)
    try:
        return PAGES.get(path, runs.layout)(context, look, search)
    except Exception as error:
        return message(say("error.title"), say("error.why", why=f"{type(error).__name__}: {error}"), kind="error")
