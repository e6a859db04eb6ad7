"""The HTML report: `klinic diagnose --format html`. One file per call, complete in itself, drawn by the same code."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.metadata import version

from dash import html
from plotly.offline import get_plotlyjs

from klinic.dashboards.bundle import REPORT, joined
from klinic.dashboards.figures.theme import Lang, Look
from klinic.dashboards.figures.view import View
from klinic.dashboards.panels import panels
from klinic.dashboards.report.tohtml import to_html
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views import banner, charts, finding, tables, timeline, vitals
from klinic.dashboards.views.parts import Component
from klinic.dashboards.views.prescription import prescription
from klinic.dashboards.words import named, speaker
from klinic.diagnostics.language import current_language
from klinic.diagnostics.report.base import Judged

WANTS_ROWS = True
POLICY = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:"


def render(judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> str:
    """All runs in one page, in the language that is spoken; `color` and `width` change nothing."""
    entries = [
        Entry(one.run.source.path, one.run.source.path, run=one.whole, diagnosis=one.diagnosis) for one in judged
    ]
    return page(entries, Look(lang=current_language()))


def page(entries: Sequence[Entry], look: Look | None = None) -> str:
    """A complete HTML document of runs that are judged; it names no other file and no host."""
    look = look or Look()
    title = speaker(look.lang)("report.page", name=", ".join("/".join(filter(None, named(e.id))) for e in entries[:3]))
    return document([_run(entry, look) for entry in entries], look, title)


def document(parts: Sequence[Component], look: Look, title: str) -> str:
    """Parts of pages as one complete file."""
    body = to_html(list(parts))
    lang = "zh-CN" if look.lang == "zh" else "en"
    return "".join(
        [
            f'<!DOCTYPE html><html lang="{lang}" data-theme="{look.theme}"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>{escape(title)}</title><style>{_style()}</style></head><body>",
            f'<main id="page" class="report">{body}{to_html(_foot(look.lang))}</main>',
            f'<script id="plotly" type="text/plain">{_plotly()}</script>',
            f"<script>{joined('script', ('charts',), 'js')}</script>",
            f"<script>{joined('report', ('draw',), 'js')}</script></body></html>",
        ]
    )


def _run(entry: Entry, look: Look) -> Component:
    lang, say = look.lang, speaker(look.lang)
    drawn, details = _panels(entry, look), _details(entry, lang)
    rows = html.Section([html.H2(say("run.findings")), timeline.timeline(entry, lang)], className="card")
    parts = [
        html.Div(banner.head(entry, lang), className="top"),
        banner.banner(entry, lang),
        html.Section(vitals.cards(entry, lang), className="vitals"),
        rows,
        finding.incidents(entry, lang),
        prescription(entry, lang),
        *drawn[:1],
        *([html.Section(details, className="card")] if details else []),
        *drawn[1:],
        _config(entry, lang),
    ]
    return html.Article(parts, className="run")


def summary(entry: Entry, look: Look) -> str:
    """The first screen of a run's report: verdict, vital signs, findings, and the vital signs' charts."""
    lang, say = look.lang, speaker(look.lang)
    rows = html.Section([html.H2(say("run.findings")), timeline.timeline(entry, lang)], className="card")
    cards = html.Section(vitals.cards(entry, lang), className="vitals")
    top = [html.Div(banner.head(entry, lang), className="top"), banner.banner(entry, lang), cards, rows]
    return document([html.Article([*top, *_panels(entry, look)[:1]], className="run")], look, entry.id)


def _details(entry: Entry, lang: Lang) -> list[Component]:
    """Findings that need a look, in full; they cannot be clicked in a file."""
    found = entry.diagnosis
    return [finding.detail(entry, lang, one.id) for one in timeline.loud(found)] if found else []


def _panels(entry: Entry, look: Look) -> list[Component]:
    scene, say = entry.scene, speaker(look.lang)
    if scene is None or not len(scene.steps):
        return []
    full = [panel for panel in panels() if panel.charts(scene)]
    view = View(points=1000)
    return [
        html.Section([html.H2(say(f"tab.{panel.name}")), charts.charts(scene, panel, look, view)], className="card")
        for panel in full
    ]


def _config(entry: Entry, lang: Lang) -> Component:
    run, say = entry.run, speaker(lang)
    if run is None or not run.config.values:
        return html.Div()
    table = tables.config_table(run, "", "set" if run.config.user else "every", lang)
    return html.Section([html.H2(say("tab.config")), table], className="card")


def _foot(lang: Lang) -> Component:
    return html.P(speaker(lang)("report.made", version=version("klinic")), className="meta foot")


@cache
def _style() -> str:
    return joined("style", REPORT, "css").replace('url("/assets/icon.svg")', "none")


@cache
def _plotly() -> str:
    """plotly.js, packed: the page unpacks it, and stays under 5 MB."""
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode()
