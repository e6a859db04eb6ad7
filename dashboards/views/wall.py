"""The wall: a tile for each run that matters now, a chip for every other one; big enough to be read across a room."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from klinic.dashboards.figures.overlay import short_name
from klinic.dashboards.figures.spark import spark
from klinic.dashboards.figures.text import cut, number
from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views.banner import headline, progress
from klinic.dashboards.views.parts import Component, badge, drawing, icon, run_url, state_badge
from klinic.dashboards.words import duration, named, retold_in, speaker, vital_title
from klinic.diagnostics.engine.model import Vital

FRESH_S = 1800.0  # so long a changed verdict stands out
MINUTE = 60.0
TILES, CHIPS = 24, 240
TAIL = 10  # signs at the end of a name that are never cut
WORST = {"sick": 0, "broken": 1, "watch": 2, "read": 3, "waiting": 3, "healthy": 4}
GOING = ("running", "stalled")
ENDED_BADLY = ("failed", "interrupted")


def status(entry: Entry) -> str:
    """The verdict, or why there is none."""
    return entry.diagnosis.verdict if entry.diagnosis else entry.standing


def turned(entry: Entry, now: float) -> float | None:
    """Seconds since the verdict changed, None where that is long ago or it never did."""
    since = now - entry.turned
    return since if entry.was and since < FRESH_S else None


def arranged(entries: Sequence[Entry], now: float) -> tuple[list[Entry], list[Entry]]:
    """Runs for tiles and runs for chips, each the worst first; the order changes only where how a run stands does.

    Tiles are for what goes on or has just changed; where that leaves room, for the runs that ended last.
    """
    current = [entry for entry in entries if entry.state(now) in GOING or turned(entry, now) is not None]
    lead = sorted(current, key=lambda one: (_turn(one), one.id))[:TILES]
    taken = {entry.id for entry in lead}
    rest = [entry for entry in entries if entry.id not in taken]
    if len(lead) < TILES // 2:
        recent = sorted(rest, key=lambda one: (_silence(one, now), one.id))[: TILES // 2 - len(lead)]
        taken |= {entry.id for entry in recent}
        lead = sorted([*lead, *recent], key=lambda one: (one not in current, _turn(one), one.id))
    chips = [entry for entry in rest if entry.id not in taken]
    return lead, sorted(chips, key=lambda one: (_turn(one), one.id))


def _turn(entry: Entry) -> int:
    return WORST.get(status(entry), 3)


def _silence(entry: Entry, now: float) -> float:
    silence = entry.silence(now)
    return round(silence / 60) if silence is not None else float("inf")


def tile(entry: Entry, lang: Lang, now: float, place: int = 0) -> Component:
    """One run: how it stands, what it is called, why, its score, how far it is; it leads to the run's page."""
    kind, state, since = status(entry), entry.state(now), turned(entry, now)
    title = html.H2(_name(entry, 60), title=entry.id, className="name")
    body = [
        _top(entry, lang, state, since),
        title,
        html.P(cut(_why(entry, lang), 160), className="why"),
        _score(entry, lang),
    ]
    foot = html.Div([*progress(entry, lang), html.Span(named(entry.id)[0], className="project")], className="foot")
    classes = ["tile", kind, f"is-{state or 'over'}", "turned" if since is not None else ""]
    spoken = f"{speaker(lang)(f'status.{kind}')}, {entry.id}"
    link = {"href": run_url(entry.id), "className": " ".join(filter(None, classes)), "title": entry.id}
    return dcc.Link([html.Span(spoken, className="sr"), *body, foot], id={"tile": place}, **link)


def _top(entry: Entry, lang: Lang, state: str, since: float | None) -> Component:
    """The verdict, what else needs a look and, for a while after it changed, what it was before."""
    say = speaker(lang)
    parts = [badge(status(entry), say)]
    if state in ("stalled", *ENDED_BADLY):
        parts.append(state_badge(state, say))
    if since is not None:
        told = say(
            "wall.was" if since >= MINUTE else "wall.just", was=say(f"status.{entry.was}"), t=_minutes(since, lang)
        )
        parts.append(html.Span(told, className="was"))
    if entry.diagnosis:
        number_ = html.Strong(str(entry.diagnosis.health))
        parts.append(html.Span([html.Span(say("run.health"), className="label"), " ", number_], className="num"))
    return html.Div(parts, className="top")


def _name(entry: Entry, most: int) -> list[Component]:
    """A run's name in two parts: where it is too long, the first is cut; runs of one series differ at their ends."""
    name = cut(short_name(entry.id), most)
    return [html.Span(part) for part in (name[:-TAIL], name[-TAIL:]) if part]


def _minutes(since: float, lang: Lang) -> str:
    return duration(since - since % MINUTE, lang)


def _why(entry: Entry, lang: Lang) -> str:
    """What is wrong in a line; nothing for a run that is well."""
    if entry.diagnosis is None:
        return retold_in(entry.problem, lang)
    return "" if entry.diagnosis.verdict == "healthy" else headline(entry, entry.diagnosis, lang)


def _score(entry: Entry, lang: Lang) -> Component:
    vital = _shown(entry)
    if vital is None:
        return html.Div(className="curve")
    drawn = drawing(spark(vital.spark, vital.low, vital.high, vital.status))
    label = html.Span(vital_title(vital.name, vital.title, lang), className="label")
    return html.Div([drawn, html.Div([html.Strong(number(vital.value)), label], className="last")], className="curve")


def _shown(entry: Entry) -> Vital | None:
    """The score, else the first vital sign that has a curve."""
    vitals = entry.diagnosis.vitals if entry.diagnosis else ()
    told = [vital for vital in vitals if any(value is not None for value in vital.spark)]
    return next((vital for vital in told if vital.name == "score"), told[0] if told else None)


def chip(entry: Entry, lang: Lang) -> Component:
    """A run that is over, small: how it stands and its name."""
    kind = status(entry)
    label = html.Span(_name(entry, 40), className="name")
    word = html.Span(f"{speaker(lang)(f'status.{kind}')}, ", className="sr")
    return dcc.Link([icon(kind), word, label], href=run_url(entry.id), className=f"mini {kind}", title=entry.id)


def many(entries: Sequence[Entry], lang: Lang, now: float | None = None) -> list[Component]:
    """The line on top: what needs a look in large, then how many run and how many there are."""
    say, now = speaker(lang), time.time() if now is None else now
    kinds = [status(entry) for entry in entries]
    states = [entry.state(now) for entry in entries]
    parts: list[Any] = []
    for kind in ("sick", "broken", "watch", "healthy", "read", "waiting"):
        if count := kinds.count(kind):
            parts.append(_count(kind, count, say(f"status.{kind}"), "badge"))
    for state in (*GOING, *ENDED_BADLY):
        if count := states.count(state):
            parts.append(_count(state, count, say(f"state.{state}"), "state"))
    return parts


def _count(name: str, count: int, word: str, kind: str) -> Component:
    classes = f"{kind} {name}" if kind == "badge" else f"{kind} state-{name}"
    return html.Span([icon(name), html.Strong(f"{count:,}"), html.Span(word)], className=classes)
