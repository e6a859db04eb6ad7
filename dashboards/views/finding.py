"""A finding in full: evidence, why it matters, when it is wrong, what looks alike."""

from __future__ import annotations

from dash import html

from klinic.dashboards.figures.scene import cards
from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views.parts import BY_SEVERITY, Component, icon
from klinic.dashboards.words import ended, speaker, summary, told, when
from klinic.diagnostics.engine.model import Finding, Incident
from klinic.diagnostics.engine.story import capital
from klinic.diagnostics.language import use_language
from klinic.diagnostics.report.phrases import evidence_words, rivals, telling


def detail(entry: Entry, lang: Lang, picked: str | None) -> Component:
    """The finding that was picked, with what its card says; empty where none is."""
    scene = entry.scene
    finding = scene.finding(picked) if scene else None
    if finding is None:
        return html.Div()
    say, status = speaker(lang), BY_SEVERITY[finding.peak]
    title = html.H3([icon(status), capital(summary(finding.id, finding.message, lang))])
    close = html.Button(say("run.close"), id={"unpick": "detail"}, className="button", type="button", n_clicks=0)
    about = [finding.id, finding.name, say(f"severity.{finding.peak}"), when(finding, lang)]
    about.append(say("run.confidence", c=say(f"confidence.{finding.confidence}")))
    body = [html.P(" · ".join(about), className="meta"), *_body(finding, lang)]
    return html.Article([html.Div([title, close], className="top"), *body], className=f"detail {status}")


def _body(finding: Finding, lang: Lang) -> list[Component]:
    say, card = speaker(lang), cards().get(finding.id)
    shown = [html.Li(evidence_words(item, lang)) for item in telling(finding.evidence)]
    parts = [_part(say("run.evidence"), html.Ul(shown, className="evidence"))] if shown else []
    parts.append(_part(say("run.meaning"), html.P(summary(finding.id, finding.why, lang, "why"))))
    with use_language(lang):
        less = rivals(finding)
    parts += [_part(say("run.rivals"), html.P(less))] if less else []
    wrong = card.text("wrong_when", lang) if card else ""
    parts += [_part(say("run.wrong"), html.P(ended(wrong, lang)))] if wrong else []
    alike = card.looks(lang) if card else ()
    rows = [
        html.Li([html.Code(str(item["name"])), say("run.because.alike", because=item.get("because", ""))])
        for item in alike
    ]
    parts += [_part(say("run.lookalikes"), html.Ul(rows))] if rows else []
    sources = (card.data.get("references") or ()) if card else ()
    links = [html.Li(html.A(str(s["title"]), href=str(s["url"]), rel="noreferrer", target="_blank")) for s in sources]
    parts += [_part(say("run.references"), html.Ul(links))] if links else []
    return [html.Div(parts, className="parts")]


def _part(title: str, *body: Component) -> Component:
    return html.Section([html.H4(title), *body])


def incidents(entry: Entry, lang: Lang) -> Component:
    """Incidents, each with its line, cause and fix."""
    found = entry.diagnosis.incidents if entry.diagnosis else ()
    if not found:
        return html.Div()
    say = speaker(lang)
    return html.Section(
        [html.H2(say("run.incidents")), *(_incident(entry, item, lang) for item in found)], className="card"
    )


def _incident(entry: Entry, item: Incident, lang: Lang) -> Component:
    say, status = speaker(lang), BY_SEVERITY[item.severity]
    place = say("run.line", line=item.line) if item.line else ""
    title = html.H3([icon(status), capital(told(entry, item, "message", lang)), html.Span(place, className="meta")])
    rows = [
        html.Div([html.Dt(say(f"run.{key}")), html.Dd(capital(text))])
        for key in ("cause", "fix")
        if (text := told(entry, item, key, lang))
    ]
    quote = [html.Pre(item.text)] if item.text else []
    return html.Article([title, *quote, html.Dl(rows)], className=f"incident {status}")
