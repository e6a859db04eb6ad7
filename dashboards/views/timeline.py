"""Findings over steps: one row a finding, the root cause first, what follows from it indented."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from dash import html

from klinic.dashboards.figures.layers import APART
from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views.parts import BY_SEVERITY, Component, icon
from klinic.dashboards.words import speaker, summary, when
from klinic.diagnostics.engine.model import Diagnosis, Finding, Severity

Spans = list[tuple[int, int]]


def ordered(found: Diagnosis) -> Iterator[tuple[Finding, int]]:
    """Findings with their depth: roots by weight, each with what follows from it by step."""
    roots = [finding for finding in found.findings if not _root(found, finding)]
    roots.sort(key=lambda f: (f.id != found.root_cause, -f.peak, f.first_step))
    for root in roots:
        yield root, 0
        mine = [f for f in found.findings if _root(found, f) == root.id]
        yield from ((f, 1) for f in sorted(mine, key=lambda f: (f.first_step, -f.peak)))


def _root(found: Diagnosis, finding: Finding) -> str | None:
    """The last cause up the chain, None for a finding that nothing explains."""
    ids, seen, at = {f.id: f for f in found.findings}, {finding.id}, finding
    while at.root_cause in ids and at.root_cause not in seen:
        seen.add(str(at.root_cause))
        at = ids[str(at.root_cause)]
    return None if at is finding else at.id


def timeline(entry: Entry, lang: Lang, picked: str | None = None) -> Component:
    """The rows, each a button that picks its finding; or a sentence where there is none."""
    found, scene, say = entry.diagnosis, entry.scene, speaker(lang)
    if found is None or scene is None:
        return html.P(say("run.findings.later"), className="quiet")
    if not found.findings or scene.run.steps is None:
        return html.P(say("run.findings.none" if scene.run.steps else "run.findings.nosteps"), className="quiet")
    steps = scene.run.steps
    spans = bars(entry)
    rows = [
        _row(f, depth, spans[f.id], steps, lang, root=f.id == found.root_cause, picked=picked)
        for f, depth in ordered(found)
    ]
    return html.Div([*rows, _scale(*steps)], className="timeline")


def _row(
    finding: Finding, depth: int, spans: Spans, steps: tuple[int, int], lang: Lang, *, root: bool, picked: str | None
) -> Component:
    say, status = speaker(lang), BY_SEVERITY[finding.peak]
    text = summary(finding.id, finding.message, lang)
    label = [icon(status), html.Span(finding.name, className="name")]
    label += [html.Span(say("run.root"), className="root")] if root and finding.peak > Severity.INFO else []
    spoken = f"{say(f'severity.{finding.peak}')}, {text}, {when(finding, lang)}"
    label.append(html.Span(spoken, className="sr"))
    drawn = [_bar(start, end, *steps) for start, end in spans]
    return html.Button(
        [
            html.Span(label, className="who"),
            html.Span(drawn, className="track"),
            html.Span(when(finding, lang), className="when"),
        ],
        id={"finding": finding.id},
        className=f"finding {status} depth-{depth}" + (" picked" if finding.id == picked else ""),
        title=text,
        type="button",
        n_clicks=0,
        **{
            "aria-pressed": str(finding.id == picked).lower(),
            "data-finding": finding.id,
            "data-steps": f"{finding.first_step},{finding.last_step}",
            "data-spans": json.dumps(spans),
        },
    )


def _bar(start: int, end: int, first: int, last: int) -> Component:
    span = max(last - first + 1, 1)
    left, width = (start - first) / span * 100, max((end - start + 1) / span * 100, 0.6)
    return html.Span(className="bar", style={"left": f"{left:.2f}%", "width": f"{min(width, 100 - left):.2f}%"})


def bars(entry: Entry) -> dict[str, Spans]:
    """Where the bars stand now, for a page that is open: it moves them itself."""
    scene, steps = entry.scene, entry.run.steps if entry.run else None
    if scene is None or steps is None:
        return {}
    return {one.id: scene.spans(one.id, (steps[1] - steps[0]) / APART) for one in scene.findings}


def moving(entry: Entry, lang: Lang) -> dict[str, tuple[Spans, str]]:
    """What moves in each row with the steps: where its bars stand, and when in words."""
    scene, spans = entry.scene, bars(entry)
    return {one.id: (spans[one.id], when(one, lang)) for one in scene.findings} if scene and spans else {}


def structure(entry: Entry, picked: str | None) -> list[Any]:
    """All of the timeline but what moves in it."""
    found = entry.diagnosis
    rows = list(ordered(found)) if found else []
    told = [(f.id, depth, int(f.peak), f.id == picked) for f, depth in rows]
    steps = entry.run.steps if entry.run else None
    return [found.root_cause if found else None, told, len(_marks(*steps)) if steps else 0]


def _scale(first: int, last: int) -> Component:
    marks = _marks(first, last)
    places = [(mark - first + 0.5) / max(last - first + 1, 1) * 100 for mark in marks]
    ticks = [html.Span(f"{m:,}", style={"left": f"{p:.2f}%"}) for m, p in zip(marks, places, strict=True)]
    return html.Div(
        [html.Span(className="who"), html.Span(ticks, className="track"), html.Span(className="when")],
        className="scale",
    )


def _marks(first: int, last: int) -> list[int]:
    """Six steps of the axis at most: multiples of 1, 2 or 5 times a power of ten (`news.js` does the same)."""
    least = max((last - first) / 5, 1)
    power = 10 ** math.floor(math.log10(least))
    every = next(size * power for size in (1, 2, 5, 10) if size * power >= least)
    return list(range(-(-first // every) * every, last + 1, every))


def loud(found: Diagnosis) -> list[Finding]:
    """Findings that need a look."""
    return [finding for finding in found.findings if finding.severity > Severity.INFO]
