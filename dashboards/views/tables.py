"""The config, samples and log tabs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html

from klinic.dashboards.figures.text import cut, number
from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views.parts import BY_SEVERITY, Component, icon, message
from klinic.dashboards.words import retold_in, speaker
from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig import default, known

MAX_ROWS, MAX_SAMPLES, MAX_LINES = 400, 60, 400
LONGEST = 2000


def config_rows(run: Run, needle: str, show: str) -> list[tuple[str, str, str, bool, bool]]:
    """(key, value, verl's default, set by a person, differs) of the keys that a search leaves."""
    words = needle.lower().split()
    rows = [_config_row(run, key, value) for key, value in sorted(run.config.values.items())]
    rows = [row for row in rows if all(word in f"{row[0]} {row[1]}".lower() for word in words)]
    return [row for row in rows if show == "every" or row[3 if show == "set" else 4]]


def _config_row(run: Run, key: str, value: Any) -> tuple[str, str, str, bool, bool]:
    theirs = default(key) if known(key) else None
    differs = known(key) and _text(theirs) != _text(value)
    return key, _text(value), _text(theirs) if known(key) else "", key in run.config.user, differs


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def config_table(run: Run, needle: str, show: str, lang: Lang) -> Component:
    """Keys and values beside verl's defaults; what a person set stands out."""
    say = speaker(lang)
    if not run.config.values:
        return message(say("tab.config"), say("config.none"))
    rows = config_rows(run, needle, show)
    heads = html.Thead(html.Tr([html.Th(say(f"config.{key}"), scope="col") for key in ("key", "value", "default")]))
    body = [
        html.Tr(
            [
                html.Td(html.Code(key)),
                html.Td(html.Code(cut(value, LONGEST))),
                html.Td(html.Code(cut(theirs, LONGEST))),
            ],
            className=("set " if mine else "") + ("differs" if differs else ""),
        )
        for key, value, theirs, mine, differs in rows[:MAX_ROWS]
    ]
    where = ", ".join(retold_in(one, lang) for one in run.config.where[:3])
    note = say("run.semicolon").join((say("config.count", n=len(rows)), say("config.where", where=where)))
    return html.Div([html.P(note, className="meta"), html.Table([heads, html.Tbody(body)], className="table config")])


def samples(run: Run, lang: Lang) -> Component:
    """Validation prompts, responses and scores, the latest first."""
    say = speaker(lang)
    if not run.samples:
        return message(say("tab.samples"), say("samples.none"))
    return html.Div(
        [_sample(item.data, lang) for item in list(reversed(run.samples))[:MAX_SAMPLES]], className="samples"
    )


def _sample(data: Mapping[str, Any], lang: Lang) -> Component:
    say, score = speaker(lang), data.get("score")
    good = isinstance(score, int | float) and score > 0
    top = [html.Span(say("run.step", step=data.get("step", "–")), className="meta")]
    top.append(
        html.Span(
            [say("samples.score"), " ", number(score) if isinstance(score, int | float) else "–"],
            className="score good" if good else "score",
        )
    )
    parts = [
        (key, field)
        for key, field in (("prompt", "prompt"), ("response", "response"), ("truth", "ground_truth"))
        if data.get(field)
    ]
    body = [
        html.Div([html.H4(say(f"samples.{key}")), html.Pre(cut(str(data[field]), LONGEST))]) for key, field in parts
    ]
    return html.Article([html.Div(top, className="top"), html.Div(body, className="texts")], className="sample")


def log(entry: Entry, lang: Lang) -> Component:
    """The lines of note and the tail, incidents marked."""
    say, run = speaker(lang), entry.run
    lines = run.lines if run else ()
    if run is None or not lines:
        return message(say("tab.log"), say("log.none"))
    marked = {item.line: item for item in (entry.diagnosis.incidents if entry.diagnosis else ())}
    rows, before = [], 0
    for line in lines[-MAX_LINES:]:
        if line.line > before + 1:
            many = line.line - before - 1
            left = say("log.left.one") if many == 1 else say("log.left", n=f"{many:,}")
            rows.append(html.Div([html.Span("⋯", className="no"), html.Span(left)], className="line gap"))
        before = line.line
        item = marked.get(line.line)
        kind = f"incident {BY_SEVERITY[item.severity]}" if item else ""
        note = [html.Span([icon(BY_SEVERITY[item.severity]), item.name], className="note")] if item else []
        rows.append(
            html.Div(
                [html.Span(f"{line.line}", className="no"), html.Span(cut(line.text, LONGEST)), *note],
                className=f"line {kind}",
            )
        )
    about = html.P(say("log.about", n=len(lines), total=f"{run.last_line:,}"), className="meta")
    return html.Div([about, html.Div(rows, className="log", tabIndex=0, role="log", **{"aria-label": say("tab.log")})])
