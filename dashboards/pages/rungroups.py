"""Groups of the runs page: what the runs are grouped by, how many each group holds, and how bad they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from dash import dcc, html

from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.views.parts import Component, icon
from klinic.dashboards.words import speaker

BY = ("project", "framework", "rule", "phase")
TOLD = ("sick", "watch", "broken")
MAX_GROUPS = 24


def chooser(lang: Lang) -> Component:
    """What to group by."""
    say = speaker(lang)
    options = [
        {"label": say("runs.group.none"), "value": ""},
        *({"label": say(f"runs.group.{b}"), "value": b} for b in BY),
    ]
    choice = dcc.RadioItems(id="runs-by", options=options, value="", inline=True, className="radio", persistence=True)
    return html.Div([html.Span(say("runs.group"), className="meta"), choice], className="filters by")


def groups(rows: Iterable[Mapping[str, Any]], by: str, lang: Lang) -> list[Component]:
    """A button a group, the one with most trouble first: its name, how many runs, how many sick and to be watched."""
    if by not in BY:
        return []
    kinds: dict[str, Counter[str]] = {}
    for row in rows:
        kinds.setdefault(str(row[by] or ""), Counter())[str(row["kind"])] += 1
    order = sorted(kinds.items(), key=lambda one: ([-one[1][kind] for kind in TOLD], one[0]))
    return [_group(by, name, many, lang) for name, many in order[:MAX_GROUPS]]


def _group(by: str, name: str, many: Counter[str], lang: Lang) -> Component:
    say = speaker(lang)
    shown = say(f"state.{name}") if by == "phase" and name else name or say("runs.group.rest")
    told = [
        html.Span(
            [icon(kind), str(many[kind]), html.Span(f" {say(f'status.{kind}')}", className="sr")],
            className=f"badge {kind}",
        )
        for kind in TOLD
        if many[kind]
    ]
    total = html.Span(str(many.total()), className="num")
    data = {"data-group": name, "data-by": by, "aria-pressed": "false"}
    return html.Button(
        [html.Span(shown, className="group-name"), total, *told], className="group", type="button", **data
    )
