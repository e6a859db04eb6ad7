"""The page of `klinic explain` on a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from klinic.diagnostics.engine.wording import in_general
from klinic.diagnostics.language import current_language, later, tr
from klinic.diagnostics.report.patterns import looked_for
from klinic.diagnostics.report.phrases import sentence, shortened

if TYPE_CHECKING:
    from klinic.diagnostics.engine.card import Card
    from klinic.diagnostics.report.layout import Page

SAID = {
    "metric": later("metric"),
    "config": later("config"),
    "incident": later("incident"),
    "stable": later("stable"),
    "experimental": later("experimental"),
    "high": later("high"),
    "medium": later("medium"),
    "low": later("low"),
}


def rule_page(page: Page, card: Card) -> None:
    """Write everything that a card says, in the language that is spoken where it is written in it."""
    lang = current_language()
    page.line(page.style(f"{card.name} ({card.id})", "heading"))
    about = card.family or tr("own"), *(tr(SAID.get(one, one)) for one in (card.kind, card.status, card.confidence))
    if card.family == card.kind:
        page.text(tr("{} rule, {}, {} confidence", *about[1:]))
    else:
        page.text(tr("{} {} rule, {}, {} confidence", *about))
    page.line()
    said = card.text("summary", lang) or in_general(card.text("message", lang))
    page.text(sentence(said) if lang == "en" else f"{said}。")
    page.text(card.text("why", lang))
    _evidence(page, card)
    for title, key in (
        (tr("Cause"), "cause"),
        (tr("Fix"), "fix"),
        (tr("Wrong when"), "wrong_when"),
    ):
        if card.text(key, lang):
            page.line()
            page.text(tr("{}: {}", title, in_general(card.text(key, lang))))
    _related(page, card)
    _remedies(page, card.tries(lang))
    _references(page, card.data.get("references") or ())


def _evidence(page: Page, card: Card) -> None:
    """What makes the card fire: levels, local names, thresholds with their sources; or patterns of an incident."""
    if card.levels or card.matches:
        page.heading(tr("Fires"))
    for level in card.levels:
        patience = "" if level.of == 1 else tr(", at {} of {} {}", level.k, level.of, tr(level.unit))
        page.labelled(str(level.severity), str(level.severity), f"{level.when}{patience}")
    for name, text in card.let.items():
        page.text(tr("where {} = {}", name, text), 9, 13)
    for name, threshold in card.thresholds.items():
        source = f" ({threshold.source})" if threshold.source else ""
        page.text(tr("and {} = {:g} {}{}", name, threshold.value, tr(threshold.unit), source), 9, 13)
    for severity, text in dict.fromkeys((str(match.severity), looked_for(match.pattern)) for match in card.matches):
        page.labelled(severity, severity, shortened(text, 160))
    if card.applies:
        page.text(tr("judged only where {}", card.applies), 2, 4)
    if card.needs:
        page.text(tr("needs {}", ", ".join(card.needs)), 2, 4)


def _related(page: Page, card: Card) -> None:
    if card.explains:
        page.line()
        page.text(tr("Explains: {}", ", ".join(card.explains)))
    looks = card.looks(current_language())
    if looks:
        page.heading(tr("Looks like"))
    for other in looks:
        page.text(tr("{}: {}", other["name"], other["because"]), 2, 4)


def _remedies(page: Page, remedies: Sequence[Mapping[str, Any]]) -> None:
    if remedies:
        page.heading(tr("To try, in this order"))
    for remedy in remedies:
        condition = tr(", if {}", remedy["if"]) if "if" in remedy else ""
        page.text(f"{remedy['key']} = {remedy.get('to')}{condition}", 2, 4)
        told = (tr("{}: {}", tr(label), remedy[key]) for label, key in _TOLD if remedy.get(key))
        page.text(tr("; ").join(told), 6)


_TOLD = ((later("because"), "because"), (later("expect"), "effect"), (later("price"), "side_effect"))


def _references(page: Page, references: Sequence[Mapping[str, Any]]) -> None:
    if references:
        page.heading(tr("References"))
    for reference in references:
        page.line(f"  {reference['title']}: {reference['url']}")
