"""The first lines of a run's page: what it is, how it stands, why, since when, what to do."""

from __future__ import annotations

from dataclasses import replace

from dash import html

from klinic.dashboards.figures.text import number
from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views.launch import launch_command
from klinic.dashboards.views.parts import Component, badge, copy, icon, state_badge
from klinic.dashboards.words import duration, named, speaker, summary, told, vital_title, when
from klinic.diagnostics.engine.causes import worst_root
from klinic.diagnostics.engine.model import Diagnosis, Finding, Incident, Severity
from klinic.diagnostics.engine.story import beside, capital, sequel
from klinic.diagnostics.language import use_language
from klinic.diagnostics.report.phrases import evidence_words, telling


def head(entry: Entry, lang: Lang) -> Component:
    """Name, state, step, pace, time left."""
    project, name = named(entry.id)
    crumbs = [html.Span(f"{project} / ", className="project")] if project else []
    about = html.Span(progress(entry, lang), className="progress", id="run-progress")
    return html.Div([html.H1([*crumbs, name or entry.id], title=entry.path), about], className="run-head")


def progress(entry: Entry, lang: Lang) -> list[Component]:
    """How far the run is and whether it goes on."""
    say, state = speaker(lang), entry.state()
    words = [_steps(entry, lang), *_pace(entry, lang, state)]
    return [state_badge(state, say), html.Span(say("run.pause").join(filter(None, words)))]


def gone(lang: Lang) -> Component:
    """In the place of the progress: the run was there, and is no more."""
    return html.Span([icon("broken"), speaker(lang)("run.gone")], className="state state-failed", role="status")


def _steps(entry: Entry, lang: Lang) -> str:
    if entry.run is None or entry.run.steps is None:
        return ""
    say, last = speaker(lang), entry.run.steps[1]
    return say("run.of", step=last, total=entry.total) if entry.total else say("run.step", step=last)


def _pace(entry: Entry, lang: Lang, state: str) -> list[str]:
    say, silence = speaker(lang), entry.silence()
    words = [say("run.pace", s=duration(entry.pace, lang))] if entry.pace else []
    if state == "stalled" and silence:
        times = round(silence / entry.pace) if entry.pace else 0
        key = "run.silent.times" if times > 1 else "run.silent"
        return [*words, say(key, t=duration(silence, lang), n=times)]
    if state == "running" and entry.pace and entry.total and entry.run and entry.run.steps:
        left = (entry.total - entry.run.steps[1]) * entry.pace
        words += [say("run.left", t=duration(left, lang))] if left > 0 else []
    return words


def banner(entry: Entry, lang: Lang) -> Component:
    """Verdict with its story, health, and the first thing to try."""
    found, say = entry.diagnosis, speaker(lang)
    if found is None:
        return _judging(entry, lang)
    title = html.H2([badge(found.verdict, say), html.Span(headline(entry, found, lang), className="headline")])
    health = html.Div([html.Strong(str(found.health)), html.Span(say("run.health"))], className="health")
    text = _text(entry, found, lang)
    rest = [*([html.P(text, className="story")] if text else []), *_first(entry, found, lang)]
    return html.Section([html.Div([title, health], className="verdict"), *rest], className=f"banner {found.verdict}")


def structure(entry: Entry, lang: Lang) -> list[object]:
    """All of the banner but the number of its health."""
    found = entry.diagnosis
    if found is None:
        return [banner(entry, lang)]
    first = [found.prescription[0], launch_command(entry)] if found.prescription else []
    return [found.verdict, headline(entry, found, lang), _text(entry, found, lang), *first]


def _text(entry: Entry, found: Diagnosis, lang: Lang) -> str:
    """What showed it and what followed; of a crash with nothing else to say, what to do."""
    incident = crash(found)
    fix = told(entry, incident, "fix", lang) if incident is not None and not found.prescription else ""
    return capital(fix) or story(entry, found, lang)


def crash(found: Diagnosis) -> Incident | None:
    """The worst incident that needs a look, unless the root finding is worse (a dying run that was killed)."""
    root = worst_root(found.findings)
    least = max(Severity.WARN, root.severity if root else Severity.WARN)
    loud = (one for one in found.incidents if one.severity >= least)
    return max(loud, key=lambda one: one.severity, default=None)


def _judging(entry: Entry, lang: Lang) -> Component:
    """In the place of the verdict until there is one; the curves are there already."""
    say, rows = speaker(lang), entry.run.frame.height if entry.run else 0
    status, words, why = "read", say("run.judging", n=f"{rows:,}"), say("run.judging.why")
    if not rows:
        status, words, why = "begins", say("run.begins"), say("run.begins.why")
    title = html.H2([badge(status, say), html.Span(words, className="headline")])
    rest = html.P(why, className="story")
    return html.Section([html.Div(title, className="verdict"), rest], className=f"banner {status}", role="status")


def headline(entry: Entry, found: Diagnosis, lang: Lang) -> str:
    """What is wrong, in a few words."""
    say, root, incident = speaker(lang), worst_root(found.findings), crash(found)
    if incident is not None:
        return capital(told(entry, incident, "message", lang))
    if root is None or root.severity <= Severity.INFO:
        return found.story.rstrip(".") if lang == "en" else _calm(found, lang)
    return say("run.headline", what=capital(summary(root.id, root.message, lang)), when=when(root, lang))


def _calm(found: Diagnosis, lang: Lang) -> str:
    """Nothing to do; or the signs that are far outside their range while no rule is sure of anything."""
    say = speaker(lang)
    outside = [vital_title(one.name, one.title, lang) for one in found.vitals if one.status == "sick"]
    return say("run.outside", what=say("run.comma").join(outside)) if outside else say("run.nowsteps")


def story(entry: Entry, found: Diagnosis, lang: Lang) -> str:
    """What showed it and what followed, after the headline; the diagnosis' own sentence where there is no root."""
    say, root = speaker(lang), worst_root(found.findings)
    if root is None or root.severity <= Severity.INFO:
        return "" if lang == "zh" or found.story.startswith(headline(entry, found, lang)) else found.story
    shown = [evidence_words(item, lang) for item in telling(root.evidence, 1)]
    spoken = [replace(one, message=summary(one.id, one.message, lang)) for one in found.findings]
    with use_language(lang):
        shown += sequel(root, spoken)
        others = beside(root, spoken)
    shown += [say("run.apart", what=others)] if others else []
    return say("run.semicolon").join(shown) + say("run.stop") if shown else found.story


def loud_roots(found: Diagnosis) -> list[Finding]:
    """Findings that need a look and that no other explains."""
    return [f for f in found.findings if f.root_cause is None and f.severity > Severity.INFO]


def _first(entry: Entry, found: Diagnosis, lang: Lang) -> list[Component]:
    """The first override, with buttons; the rest of the prescription stands below."""
    if not found.prescription:
        return []
    say, first = speaker(lang), found.prescription[0]
    change = [html.Code(first.key), html.Code(_value(first.old), className="old"), icon("arrow")]
    change.append(html.Code(_value(first.new), className="new"))
    buttons = [copy(first.override, say("run.copy"), say)]
    command = launch_command(entry)
    buttons += [copy(command, say("run.copy.launch"), say)] if command else []
    buttons.append(html.A(say("run.why"), href="#prescription", className="button"))
    return [html.Div([html.Span(say("run.try"), className="label"), *change, *buttons], className="try")]


def _value(value: object) -> str:
    if value is None:
        return "–"
    return (
        number(value)
        if isinstance(value, float) and abs(value) >= 0.01
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
