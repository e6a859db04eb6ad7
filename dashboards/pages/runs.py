"""The runs page: one line that counts, and a grid of all runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from klinic.dashboards.figures.spark import spark
from klinic.dashboards.figures.text import number
from klinic.dashboards.figures.theme import Lang, Look
from klinic.dashboards.pages.context import Context, look_of
from klinic.dashboards.pages.rungrid import grid
from klinic.dashboards.pages.rungroups import chooser, groups
from klinic.dashboards.store import Entry, Shelf
from klinic.dashboards.views.banner import crash
from klinic.dashboards.views.parts import Component, icon, loading, message, named_field, run_url
from klinic.dashboards.words import duration, named, retold_in, speaker
from klinic.diagnostics.engine.causes import worst_root
from klinic.diagnostics.engine.model import Diagnosis, Finding, Incident, Severity

# Order of the rows: what needs a look first; the health orders those alike.
RANK = {"sick": 0, "watch": 1, "broken": 2, "read": 3, "waiting": 3, "healthy": 4}


def layout(context: Context, look: Look, _search: str) -> Component:
    """The page; rows that come later are added by the tick."""
    say, now = speaker(look.lang), context.shelf.moment
    entries = now.entries
    if not entries and not context.shelf.ready.is_set():
        return context.wait("", loading(say("runs.loading")))
    if not entries:
        code = html.Code(say("runs.empty.try"))
        why = say("runs.empty.why", roots=context.roots)
        return context.wait("", message(say("runs.empty"), why, code))
    search = dcc.Input(id="runs-search", type="search", placeholder=say("runs.search"), debounce=0.15, maxLength=200)
    compare = html.A(id="runs-compare", className="button disabled", children=say("runs.compare.hint"))
    return html.Div(
        [
            html.H1(say("runs.title"), className="sr"),
            html.Div(
                [
                    html.P(counted(entries.values(), look.lang), id="runs-count", className="counted"),
                    html.Div([compare, named_field(say("runs.search"), search)], className="filters"),
                ],
                className="top",
            ),
            html.Div([_chips(look.lang), chooser(look.lang)], className="top"),
            html.Div(id="runs-groups", className="groups", role="group", **{"aria-label": say("runs.group")}),
            context.clock("runs-tick"),
            dcc.Store(id="runs-seen", data=now.stamp),
            dcc.Store(id="runs-words", data={"hint": say("runs.compare.hint"), "many": say("runs.compare", n="{n}")}),
            grid([row(entry, look.lang) for entry in entries.values()], look.lang),
        ],
        className="runs",
    )


def counted(entries: Iterable[Entry], lang: Lang) -> list[Component]:
    """`12 runs, 2 sick, 3 watch, 7 healthy, 1 stalled`: the worst first, as the chips and the rows."""
    say, entries = speaker(lang), list(entries)
    kinds = Counter(status(entry) for entry in entries)
    states = Counter(state for entry in entries if (state := entry.state()) in ("running", "stalled", "interrupted"))
    total = say("runs.count.one") if len(entries) == 1 else say("runs.count", n=f"{len(entries):,}")
    parts: list[Component] = [html.Strong(total)]
    for kind in ("sick", "watch", "healthy", "broken", "read", "waiting"):
        if kinds[kind]:
            parts.append(html.Span([icon(kind), f"{kinds[kind]:,} {say(f'status.{kind}')}"], className=f"badge {kind}"))
    for state, many in states.items():
        parts.append(html.Span([icon(state), f"{many} {say(f'state.{state}')}"], className=f"state state-{state}"))
    return parts


def _chips(lang: Lang) -> Component:
    """Filters by status."""
    say = speaker(lang)
    first = html.Button(say("runs.all"), className="chip chosen", type="button", **{"data-filter": ""})
    kinds = ("sick", "watch", "healthy", "broken")
    rest = [
        html.Button([icon(k), say(f"status.{k}")], className=f"chip {k}", type="button", **{"data-filter": k})
        for k in kinds
    ]
    return html.Div([first, *rest], className="chips", role="group", **{"aria-label": say("runs.status")})


def status(entry: Entry) -> str:
    """The verdict, or why there is none."""
    return entry.diagnosis.verdict if entry.diagnosis else entry.standing


def row(entry: Entry, lang: Lang) -> dict[str, Any]:
    """One row of the grid: plain values."""
    say, run, found = speaker(lang), entry.run, entry.diagnosis
    kind, state = status(entry), entry.state()
    score = next((vital for vital in found.vitals if vital.name == "score"), None) if found else None
    silence = entry.silence()
    return {
        "id": entry.id,
        "url": run_url(entry.id),
        "kind": kind,
        "rank": RANK.get(kind, 5) * 1000 + (found.health if found else 0),
        "status": say(f"status.{kind}"),
        "health": found.health if found else None,
        "name": named(entry.id)[1],
        "project": named(entry.id)[0],
        "step": run.steps[1] if run and run.steps else None,
        "score": score.value if score else None,
        "scored": number(score.value) if score and score.value is not None else "–",
        "spark": spark(score.spark, score.low, score.high, score.status) if score else "",
        "finding": " ".join(filter(None, _top(entry, lang))),
        "found": _top(entry, lang),
        "rule": _rule(entry),
        "framework": " ".join(filter(None, (run.source.framework, run.source.version))) if run else "",
        "age": silence,
        "aged": duration(silence, lang) if silence is not None else "–",
        "phase": state,
        "state": say(f"state.{state}") if state else "",
    }


def _top(entry: Entry, lang: Lang) -> tuple[str, str]:
    """What the run is shown under, and its place; the reason why a run cannot be read."""
    if entry.diagnosis is None:
        return retold_in(entry.problem, lang), ""
    shown, say = _shown(entry.diagnosis), speaker(lang)
    if isinstance(shown, Finding):
        return shown.name, say("run.step", step=shown.first_step)
    return (shown.name, say("run.line", line=shown.line) if shown.line else "") if shown else ("", "")


def _rule(entry: Entry) -> str:
    """The rule that the run is shown under."""
    shown = _shown(entry.diagnosis) if entry.diagnosis else None
    return shown.name if shown else ""


def _shown(found: Diagnosis) -> Incident | Finding | None:
    """The worst incident, or the root finding where that is worse; None where neither needs a look."""
    root = worst_root(found.findings)
    return crash(found) or (root if root and root.severity > Severity.INFO else None)


def since(shelf: Shelf, seen: int, lang: Lang) -> tuple[dict[str, Any], int, Component] | None:
    """What a grid that stands as at place `seen` lacks, where it stands then, and the counts; None for nothing."""
    now = shelf.moment
    changed = [entry for entry in now.entries.values() if entry.stamp > seen]
    gone = [{"id": name} for stamp, name in now.gone if stamp > seen]
    if not changed and not gone:
        return None
    news = {
        "remove": gone,
        "add": [row(one, lang) for one in changed if one.born > seen],
        "update": [row(one, lang) for one in changed if one.born <= seen],
    }
    return {**news, "async": False}, now.stamp, counted(now.entries.values(), lang)


def register(app: Dash, context: Context) -> None:
    """The callbacks of the page."""

    def tick(_n: Any, seen: int, ui: Any) -> Any:
        return since(context.shelf, seen, look_of(ui).lang) or (no_update, no_update, no_update)

    app.callback(
        Output("runs-grid", "rowTransaction"),
        Output("runs-seen", "data"),
        Output("runs-count", "children"),
        Input("runs-tick", "n_intervals"),
        State("runs-seen", "data"),
        State("ui", "data"),
        prevent_initial_call=True,
    )(tick)

    def grouped(by: Any, _seen: Any, ui: Any) -> Any:
        lang = look_of(ui).lang
        return groups((row(entry, lang) for entry in context.shelf.entries.values()), str(by or ""), lang) if by else []

    app.callback(
        Output("runs-groups", "children"), Input("runs-by", "value"), Input("runs-seen", "data"), State("ui", "data")
    )(grouped)
    app.clientside_callback(
        ClientsideFunction("klinic", "grouped"),
        Output("runs-groups", "className"),
        Input("runs-by", "value"),
        Input("runs-groups", "children"),
    )

    app.clientside_callback(
        ClientsideFunction("klinic", "search"),
        Output("runs-grid", "dashGridOptions"),
        Input("runs-search", "value"),
        State("runs-grid", "dashGridOptions"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("klinic", "marked"),
        Output("runs-compare", "children"),
        Output("runs-compare", "href"),
        Output("runs-compare", "className"),
        Input("runs-grid", "selectedRows"),
        State("runs-words", "data"),
        prevent_initial_call=True,
    )
