"""The wall: the page that a team leaves open. What changes is sent, and stands out for a while."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update

from klinic.dashboards.figures.theme import Lang, Look
from klinic.dashboards.live import mark
from klinic.dashboards.pages.context import Context, look_of
from klinic.dashboards.store import Entry
from klinic.dashboards.views import wall
from klinic.dashboards.views.parts import Component, icon, loading, message
from klinic.dashboards.words import speaker

COLUMNS = ((1, 1), (4, 2), (9, 3), (16, 4), (wall.TILES, 6))  # up to so many tiles stand in so many columns


def layout(context: Context, look: Look, _search: str) -> Component:
    """The whole screen: a line that counts, tiles, chips."""
    say, entries = speaker(look.lang), list(context.shelf.entries.values())
    if not entries:
        words = loading(say("runs.loading"))
        if context.shelf.ready.is_set():
            words = message(say("runs.empty"), say("runs.empty.why", roots=context.roots))
        return context.wait("", html.Div([_bar([], look.lang), words], className="wall"))
    now = time.time()
    lead, rest = wall.arranged(entries, now)
    tiles = _tiles(lead, look.lang, now)
    return html.Div(
        [
            context.clock("wall-tick"),
            dcc.Store(id="wall-known", data=_known(tiles, lead, rest, look.lang)),
            _bar(wall.many(entries, look.lang, now), look.lang),
            html.Section(tiles, id="wall-tiles", className=f"tiles {_columns(len(tiles))}"),
            html.Section(_chips(rest, look.lang), id="wall-chips", className="minis"),
        ],
        className="wall",
    )


def _bar(counts: Sequence[Component], lang: Lang) -> Component:
    say = speaker(lang)
    buttons = [
        dcc.Link(say("nav.runs"), href="/", className="button quiet"),
        _button(say("nav.lang"), say("nav.lang.label"), {"data-ui": "lang"}),
        _button(icon("theme"), say("nav.theme"), {"data-ui": "theme"}),
        _button(icon("full"), say("wall.full"), {"data-full": "1"}),
    ]
    clock = html.Time(_clock(), id="wall-clock", title=say("wall.clock"))
    shown = html.Div(list(counts), id="wall-count", className="counts", role="status")
    title = html.H1(say("wall.title"), className="sr")
    return html.Div([title, shown, html.Div([*buttons, clock], className="buttons")], className="wall-bar")


def _button(label: Component, spoken: str, data: dict[str, str]) -> Component:
    return html.Button(label, className="button quiet", type="button", title=spoken, **{"aria-label": spoken, **data})


def _clock() -> str:
    return time.strftime("%H:%M:%S")


def _columns(count: int) -> str:
    return f"in-{next(columns for most, columns in COLUMNS if count <= most)}"


def _tiles(lead: Sequence[Entry], lang: Lang, now: float) -> list[Component]:
    return [wall.tile(entry, lang, now, place) for place, entry in enumerate(lead)]


def _chips(rest: Sequence[Entry], lang: Lang) -> list[Component]:
    """Chips, and a last one in which the page's script counts those that do not fit."""
    if not rest:
        return []
    say, total = speaker(lang), len(rest)
    left = dcc.Link(say("wall.more", n=f"{max(total - wall.CHIPS, 0):,}"), href="/")
    data = {"data-total": str(total), "data-words": say("wall.more", n="{n}")}
    return [*(wall.chip(entry, lang) for entry in rest[: wall.CHIPS]), html.Span(left, className="mini more", **data)]


def _known(tiles: Sequence[Component], lead: Sequence[Entry], rest: Sequence[Entry], lang: Lang) -> dict[str, Any]:
    """What a page knows: its tiles in their order with their marks, and its chips."""
    return {
        "ids": [entry.id for entry in lead],
        "marks": [mark(tile) for tile in tiles],
        "chips": mark([(entry.id, wall.status(entry)) for entry in rest] + [lang]),
    }


def register(app: Dash, context: Context) -> None:
    """The callback of the page: only tiles that changed are sent."""

    def tick(_n: Any, known: Any, ui: Any) -> Any:
        entries, lang, now = list(context.shelf.entries.values()), look_of(ui).lang, time.time()
        lead, rest = wall.arranged(entries, now)
        tiles = _tiles(lead, lang, now)
        fresh = _known(tiles, lead, rest, lang)
        same = fresh["ids"] == known["ids"]
        return (
            *(told(tiles, known["marks"], fresh["marks"]) if same else _still(len(ctx.outputs_list[0]))),
            no_update if same else tiles,
            no_update if same else f"tiles {_columns(len(tiles))}",
            no_update if fresh["chips"] == known["chips"] else _chips(rest, lang),
            no_update if fresh == known else wall.many(entries, lang, now),
            no_update if fresh == known else fresh,
            _clock(),
        )

    app.callback(
        Output({"tile": ALL}, "children"),
        Output({"tile": ALL}, "className"),
        Output("wall-tiles", "children"),
        Output("wall-tiles", "className"),
        Output("wall-chips", "children"),
        Output("wall-count", "children"),
        Output("wall-known", "data"),
        Output("wall-clock", "children"),
        Input("wall-tick", "n_intervals"),
        State("wall-known", "data"),
        State("ui", "data"),
        prevent_initial_call=True,
    )(tick)


def told(tiles: Sequence[Component], known: Sequence[int], fresh: Sequence[int]) -> tuple[list[Any], list[Any]]:
    """Contents and classes of the tiles whose marks changed; the others, and every link, stay as they are."""
    news = [tile if old != new else None for tile, old, new in zip(tiles, known, fresh, strict=True)]
    return (
        [no_update if tile is None else tile.children for tile in news],
        [no_update if tile is None else tile.className for tile in news],
    )


def _still(count: int) -> tuple[list[Any], list[Any]]:
    return [no_update] * count, [no_update] * count
