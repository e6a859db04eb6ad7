"""Pages of several runs: which can be chosen, and what an open page lacks of those that it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from dash import Dash, Input, Output, State, ctx, no_update

from klinic.dashboards.figures.arrays import POINTS
from klinic.dashboards.figures.line import numbers, short
from klinic.dashboards.figures.overlay import Across, Named, across, whole
from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.figures.view import View
from klinic.dashboards.live import MAX_ROWS
from klinic.dashboards.pages.context import Context, floating
from klinic.dashboards.store import Entry
from klinic.dashboards.words import speaker

MAX_RUNS, MAX_SPAN = 8, 1000
Known = Mapping[str, Sequence[int]]  # run -> (epoch, rows, stamp)
Charts = tuple[Sequence[str], View, Across]  # metrics, and how they are looked at


def offered(context: Context) -> list[str]:
    """Names of the runs that can be read, those that are being read included."""
    return sorted(name for name, entry in context.shelf.entries.items() if entry.standing != "broken")


def choice_labels(lang: Lang) -> dict[str, str]:
    """What the chooser of runs says."""
    say = speaker(lang)
    return {
        "select_all": say("choose.all"),
        "deselect_all": say("choose.none"),
        "selected_count": say("choose.many"),
        "search": say("choose.search"),
        "clear_search": say("choose.unsearch"),
        "clear_selection": say("choose.clear"),
        "no_options_found": say("choose.empty"),
    }


def chosen(context: Context, names: Sequence[str]) -> list[str]:
    """The runs of a link that there are; all of them as long as the dashboard is still looking."""
    known = set(offered(context))
    return [name for name in names if name in known or not context.shelf.ready.is_set()][:MAX_RUNS]


def readable(context: Context, ids: Sequence[str]) -> list[Entry]:
    """The runs of some names that have something to show."""
    entries = [context.shelf.entry(str(name)) for name in ids[:MAX_RUNS]]
    return [entry for entry in entries if entry is not None and entry.scene is not None]


def named(entries: Sequence[Entry]) -> list[Named]:
    """Runs as pictures of several take them."""
    return [Named(entry.id, entry.scene) for entry in entries if entry.scene is not None]


def viewed(window: Any, kind: Across, *, span: Any = 0, log: bool = False) -> View:
    """How a page looks at its charts; a window, (from, to, what x counted), holds for that x only."""
    said = list(window) if isinstance(window, list) and len(window) == 3 and window[2] == kind else [None, None]
    first, last = (floating(str(end)) for end in said[:2])
    return View(first, last, span=steps(span), log=log)


def steps(said: Any) -> int:
    """Steps to smooth over, from a field or a URL: within what the field takes, 0 for anything else."""
    return int(min(max(floating(str(said)) or 0, 0), MAX_SPAN))


def finer(entries: Sequence[Entry]) -> bool:
    """Whether a zoom shows more points of some run; a short one is drawn whole already."""
    return any(entry.run is not None and entry.run.frame.height > POINTS // 2 for entry in entries)


def known_of(entries: Sequence[Entry]) -> dict[str, list[int]]:
    """What a page knows of its runs once it was drawn."""
    return {entry.id: [entry.epoch, entry.scene.rows if entry.scene else 0, entry.stamp] for entry in entries}


def drawn_anew(entries: Sequence[Entry], known: Known) -> bool:
    """Whether appending points will not do: other runs, rows that were rewritten, or very many of them."""
    now = known_of(entries)
    if now.keys() != known.keys():
        return True
    return any(now[name][0] != known[name][0] or now[name][1] - known[name][1] > MAX_ROWS for name in now)


def grown(entries: Sequence[Entry], names: Sequence[str], view: View, kind: Across, known: Known) -> dict[str, Any]:
    """New points of each metric's chart, as the page's script appends them."""
    runs = named(entries)
    span = whole(runs, kind)
    moved = [run for run in runs if run.scene.rows > known[run.name][1]]
    charts = {name: _points(moved, name, view, kind, known) for name in names}
    return {name: {"points": points, "whole": span} for name, points in charts.items() if points}


def _points(runs: Sequence[Named], name: str, view: View, kind: Across, known: Known) -> list[Any]:
    """[metric, role, [x...], [y...], run] of each line that grew."""
    roles = {"raw": 0, **({"smooth": view.span} if view.span > 1 else {})}
    lines = [(run, role, span) for run in runs if run.scene.run.has(name) for role, span in roles.items()]
    made = [_new(run, name, role, span, kind, max(known[run.name][1] - 1, 0)) for run, role, span in lines]
    return [line for line in made if line[2]]


def _new(run: Named, name: str, role: str, span: int, kind: Across, first: int) -> list[Any]:
    """From the last row that the page knows: values may have joined it."""
    scene = run.scene
    x, y = across(scene, kind)[first:], scene.column(name, span).values(scene.rows)[first:]
    there = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    return [name, role, numbers(x[there], "i4" if kind == "step" else "f8"), [short(v) for v in y[there]], run.name]


def keep_up(
    app: Dash,
    context: Context,
    page: str,
    controls: Sequence[str],
    show: Callable[..., Any],
    charts: Callable[..., Charts],
) -> None:
    """The callbacks of a page whose runs go on: drawn for what its controls say, then told what is new.

    show: (ids, *controls, window, ui) -> (body, what the page then knows).
    charts: (runs, *controls, window, ui) -> what it shows.
    The page has `PAGE-runs`, `-body`, `-known`, `-window`, `-tick` and a control for each name.
    """
    asked = [f"{page}-{name}" for name in ("runs", *controls)]

    def drawn(ids: Any, *said: Any) -> Any:
        if ctx.triggered_id == f"{page}-window" and not finer(readable(context, ids or [])):
            return no_update, no_update
        return show(ids, *said)

    def tick(_n: Any, known: Any, options: Any, ids: Any, *said: Any) -> Any:
        entries, names = readable(context, ids or []), offered(context)
        listed = names if names != options else no_update
        if known_of(entries) == known:
            return no_update, no_update, no_update, listed
        if drawn_anew(entries, known):
            return no_update, *show(ids, *said), listed
        news = grown(entries, *charts(named(entries), *said), known)
        return {"charts": news}, no_update, known_of(entries), listed

    app.callback(
        Output(f"{page}-body", "children"),
        Output(f"{page}-known", "data"),
        *(Input(name, "value") for name in asked),
        Input(f"{page}-window", "data"),
        State("ui", "data"),
    )(drawn)
    app.callback(
        Output("fresh", "data", allow_duplicate=True),
        Output(f"{page}-body", "children", allow_duplicate=True),
        Output(f"{page}-known", "data", allow_duplicate=True),
        Output(f"{page}-runs", "options"),
        Input(f"{page}-tick", "n_intervals"),
        State(f"{page}-known", "data"),
        State(f"{page}-runs", "options"),
        *(State(name, "value") for name in asked),
        State(f"{page}-window", "data"),
        State("ui", "data"),
        prevent_initial_call=True,
    )(tick)
