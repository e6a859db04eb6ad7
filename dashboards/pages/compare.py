"""The compare page: two to eight runs overlaid, where they part, what differs in their configs, what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from klinic.dashboards.figures.overlay import Named
from klinic.dashboards.figures.parting import config_differences, ends, partings
from klinic.dashboards.figures.scene import signs
from klinic.dashboards.figures.text import cut, number
from klinic.dashboards.figures.theme import Lang, Look
from klinic.dashboards.figures.view import View
from klinic.dashboards.pages import several
from klinic.dashboards.pages.context import Context, look_of, query
from klinic.dashboards.pages.explore import chart, field, kind_of, legend
from klinic.dashboards.views.parts import BY_SEVERITY, Component, badge, icon, message, run_url
from klinic.dashboards.words import speaker, when

SHOWN, LONGEST, MAX_KEYS = 12, 300, 200
SLOW = 10  # so many ticks pass before the tables are worked out again
MORE = ("actor/entropy", "actor/grad_norm", "response_length/mean")


def layout(context: Context, look: Look, search: str) -> Component:
    """The runs of the URL, or the question which."""
    say = speaker(look.lang)
    picked = several.chosen(context, query(search).get("run", []))
    pick = dcc.Dropdown(
        id="compare-runs",
        options=several.offered(context),
        value=picked,
        multi=True,
        placeholder=say("compare.pick"),
        labels=several.choice_labels(look.lang),
    )
    axes = [{"label": say(f"explore.x.{kind}"), "value": kind} for kind in ("step", "time")]
    across = dcc.RadioItems(id="compare-x", options=axes, value="step", inline=True, className="radio")
    fields = [field(say("explore.runs"), pick, "wide"), field(say("explore.x"), across)]
    title = html.H1(say("compare.title"), className="sr")
    stores = [dcc.Store(id="compare-known", data={}), dcc.Store(id="compare-told", data={})]
    stores.append(dcc.Store(id="compare-window"))
    clocks = [context.clock("compare-tick"), context.clock("compare-slow", SLOW)]
    parts = [html.Div(fields, className="card controls"), html.Div(id="compare-body"), html.Div(id="compare-tables")]
    return html.Div([title, *clocks, *stores, *parts])


def body(runs: Sequence[Named], look: Look, kind: str, window: Any = None) -> Component:
    """The runs' vital signs over each other, or the question which runs."""
    say = speaker(look.lang)
    if len(runs) < 2:
        return message(say("compare.title"), say("compare.pick"))
    view = several.viewed(window, kind_of(kind))
    charts = [chart(runs, name, look, view, kind_of(kind)) for name in shared(runs)]
    title = html.H2(say("run.vitals"), className="sr")
    return html.Section([title, legend(runs), html.Div(charts, className="charts")], className="card")


def shared(runs: Sequence[Named]) -> list[str]:
    """The metrics of which two of the runs can be compared, out of those that tell most."""
    names = [*(sign.metric for sign in signs()), *MORE, *_validations(runs)]
    return [name for name in names if sum(run.scene.run.has(name) for run in runs) > 1]


def tables(runs: Sequence[Named], lang: Lang) -> list[Component]:
    """Where the runs part, what they came to, what was found in them, what differs in their configs."""
    if len(runs) < 2:
        return []
    say = speaker(lang)
    return [
        _card(say("compare.parts"), _partings(runs, lang)),
        _card(say("compare.values"), _ends(runs, shared(runs), lang)),
        _card(say("compare.findings"), _findings(runs, lang)),
        _card(say("compare.config"), _config(runs, lang)),
    ]


def _validations(runs: Sequence[Named]) -> list[str]:
    return list(dict.fromkeys(name for run in runs for name in run.scene.matching("val-core/*/mean@*")))[:2]


def _card(title: str, content: Component) -> Component:
    return html.Section([html.H2(title), content], className="card")


def _table(heads: Sequence[Component], rows: Sequence[Sequence[Component]], kind: str = "") -> Component:
    top = html.Thead(html.Tr([html.Th(head, scope="col") for head in heads]))
    body_ = html.Tbody([html.Tr([html.Td(cell) for cell in row]) for row in rows])
    return html.Div(html.Table([top, body_], className=f"table {kind}"), className="wide-table", tabIndex=0)


def _heads(runs: Sequence[Named]) -> list[Component]:
    return [
        html.A([html.Span(className=f"swatch run-{place % 8}"), cut(run.name, 40)], href=run_url(run.name))
        for place, run in enumerate(runs)
    ]


def _partings(runs: Sequence[Named], lang: Lang) -> Component:
    say, found = speaker(lang), partings(runs)
    if not found:
        return html.P(say("compare.parts.none"), className="quiet")
    names = [run.name for run in runs]
    rows = [
        [
            html.Code(f"{part.step:,}"),
            html.Code(part.metric),
            [html.Span(className=f"swatch run-{names.index(part.run) % 8}"), html.Code(number(part.value))],
            [html.Span(className=f"swatch run-{names.index(part.other) % 8}"), html.Code(number(part.other_value))],
        ]
        for part in found[:SHOWN]
    ]
    heads = _heads(runs) if len(runs) == 2 else [say("compare.one"), say("compare.other")]
    return _table([say("runs.step"), say("compare.metric"), *heads], rows, "parted")


def _ends(runs: Sequence[Named], names: Sequence[str], lang: Lang) -> Component:
    say = speaker(lang)
    rows = []
    for row in ends(runs, names):
        cells = [_both(final, best, say("compare.best")) for final, best in zip(row.final, row.best, strict=True)]
        rows.append([html.Code(row.metric), *cells])
    return _table([say("compare.metric"), *_heads(runs)], rows)


def _both(final: float | None, best: float | None, word: str) -> list[Component]:
    more = [html.Span(f"  {word} {number(best)}", className="meta")] if best is not None else []
    return [html.Code(number(final)), *more]


def _findings(runs: Sequence[Named], lang: Lang) -> Component:
    say = speaker(lang)
    found = {finding.id: finding for run in runs for finding in run.scene.findings}
    order = sorted(found.values(), key=lambda finding: (-finding.peak, finding.first_step, finding.id))
    judged = [run.scene.diagnosis for run in runs]
    verdicts = [badge(found.verdict if found else "read", say) for found in judged]
    rows = [[html.Span(say("runs.status")), *verdicts]]
    rows += [[html.Code(one.name), *(_held(run, one.id, lang) for run in runs)] for one in order]
    return _table(["", *_heads(runs)], rows)


def _held(run: Named, rule: str, lang: Lang) -> Component:
    finding = run.scene.finding(rule)
    if finding is None:
        return html.Span("–", className="meta")
    status = BY_SEVERITY[finding.peak]
    return html.Span([icon(status), when(finding, lang)], className=f"badge {status}")


def _config(runs: Sequence[Named], lang: Lang) -> Component:
    say, rows = speaker(lang), config_differences(runs)
    if not rows:
        return html.P(say("compare.config.none"), className="quiet")
    cells = [[html.Code(key), *map(_value, values)] for key, values in rows[:MAX_KEYS]]
    return _table([say("config.key"), *_heads(runs)], cells)


def _value(value: str | None) -> Component:
    return html.Code("–" if value is None else cut(value, LONGEST))


def register(app: Dash, context: Context) -> None:
    """The callbacks of the page."""

    def show(ids: Any, kind: Any, window: Any, ui: Any) -> Any:
        entries = several.readable(context, ids or [])
        return body(several.named(entries), look_of(ui), str(kind), window), several.known_of(entries)

    def charts(runs: Sequence[Named], kind: Any, _window: Any, _ui: Any) -> several.Charts:
        return shared(runs), View(), kind_of(str(kind))

    several.keep_up(app, context, "compare", ("x",), show, charts)

    def tell(ids: Any, _n: Any, told: Any, ui: Any) -> Any:
        entries = several.readable(context, ids or [])
        now = several.known_of(entries)
        if now and now == told:
            return no_update, no_update
        return tables(several.named(entries), look_of(ui).lang), now

    app.callback(
        Output("compare-tables", "children"),
        Output("compare-told", "data"),
        Input("compare-runs", "value"),
        Input("compare-slow", "n_intervals"),
        State("compare-told", "data"),
        State("ui", "data"),
    )(tell)

    app.clientside_callback(
        ClientsideFunction("klinic", "compared"), Output("compare-runs", "className"), Input("compare-runs", "value")
    )
