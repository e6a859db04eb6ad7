"""The prescription as a config diff, with buttons that copy it."""

from __future__ import annotations

from dash import html

from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views.launch import launch_command
from klinic.dashboards.views.parts import Component, copy
from klinic.dashboards.words import reason, speaker
from klinic.diagnostics.engine.model import Override
from klinic.diagnostics.language import use_language
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.uncured import uncured


def prescription(entry: Entry, lang: Lang) -> Component:
    """Every override, in the order in which to try them; why there is none where no setting cures what was found."""
    items = entry.diagnosis.prescription if entry.diagnosis else ()
    if not items:
        return _without(entry, lang)
    say, command = speaker(lang), launch_command(entry)
    lines = "\n".join(item.override for item in items if item.rank == 1)
    buttons = [copy(lines, say("run.copy.all"), say)]
    buttons += [copy(command, say("run.copy.launch"), say, "button primary")] if command else []
    top = html.Div([html.H2(say("run.prescription")), html.Div(buttons, className="buttons")], className="top")
    return html.Section(
        [top, *(_change(item, lang) for item in items)], className="card prescription", id="prescription"
    )


def structure(entry: Entry) -> list[object]:
    """All that the prescription is drawn from."""
    items = entry.diagnosis.prescription if entry.diagnosis else ()
    return [*items, launch_command(entry)] if items else [*_uncured(entry)]


def _without(entry: Entry, lang: Lang) -> Component:
    """In place of a prescription: the sentences that the text report has there; empty where there is nothing to say."""
    with use_language(lang):
        told = _uncured(entry)
    if not told:
        return html.Div()
    title = html.Div(html.H2(speaker(lang)("run.prescription")), className="top")
    return html.Section([title, *map(html.P, told)], className="card prescription", id="prescription")


def _uncured(entry: Entry) -> list[str]:
    return uncured(Judged(entry.run, entry.diagnosis)) if entry.run and entry.diagnosis else []


def _change(item: Override, lang: Lang) -> Component:
    say = speaker(lang)
    old = [html.Div([html.Span("-", className="sign"), html.Code(_line(item.key, item.old))], className="minus")]
    new = html.Div(
        [
            html.Span("+", className="sign"),
            html.Code(item.override),
            copy(item.override, say("run.copy"), say, "button small"),
        ],
        className="plus",
    )
    later = [html.Span(say("run.rank"), className="later")] if item.rank > 1 else []
    parts = (("because", "because"), ("effect", "effect"), ("side", "side_effect"))
    texts = [(key, reason(item, part, lang)) for key, part in parts]
    rows = [html.Div([html.Dt(say(f"run.{key}")), html.Dd(text)]) for key, text in texts if text]
    return html.Article(
        [*later, html.Div([*(old if item.old is not None else []), new], className="diff"), html.Dl(rows)],
        className="change",
    )


def _line(key: str, value: object) -> str:
    return f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
