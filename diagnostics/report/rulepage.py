"""The page of `klinic explain` on a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from klinic.diagnostics.report.phrases import sentence, shortened

if TYPE_CHECKING:
    from klinic.diagnostics.engine.card import Card
    from klinic.diagnostics.report.layout import Page


def rule_page(page: Page, card: Card, lang: str) -> None:
    """Write everything that a card says, in a language where it is written in it."""
    page.line(page.style(f"{card.name} ({card.id})", "heading"))
    page.text(f"{card.family or 'own'} {card.kind} rule, {card.status}, {card.confidence} confidence")
    page.line()
    page.text(sentence(card.text("summary", lang) or card.text("message", lang)))
    page.text(card.text("why", lang))
    _evidence(page, card)
    for title, key in (
        (_word("Cause", lang), "cause"),
        (_word("Fix", lang), "fix"),
        (_word("Wrong when", lang), "wrong_when"),
    ):
        if card.text(key, lang):
            page.line()
            page.text(f"{title}: {card.text(key, lang)}")
    _related(page, card)
    _remedies(page, card.tries(lang), lang)
    _references(page, card.data.get("references") or ())


def _evidence(page: Page, card: Card) -> None:
    """What makes the card fire: levels, local names, thresholds with their sources; or patterns of an incident."""
    if card.levels or card.matches:
        page.heading("Fires")
    for level in card.levels:
        patience = "" if level.of == 1 else f", at {level.k} of {level.of} {level.unit}"
        page.labelled(str(level.severity), str(level.severity), f"{level.when}{patience}")
    for name, text in card.let.items():
        page.text(f"where {name} = {text}", 9, 13)
    for name, threshold in card.thresholds.items():
        source = f" ({threshold.source})" if threshold.source else ""
        page.text(f"and {name} = {threshold.value:g} {threshold.unit}{source}", 9, 13)
    for match in card.matches:
        page.labelled(str(match.severity), str(match.severity), shortened(match.pattern, 160))
    if card.applies:
        page.text(f"judged only where {card.applies}", 2, 4)
    if card.needs:
        page.text(f"needs {', '.join(card.needs)}", 2, 4)


def _related(page: Page, card: Card) -> None:
    if card.explains:
        page.line()
        page.text(f"Explains: {', '.join(card.explains)}")
    if card.data.get("look_alikes"):
        page.heading("Looks like")
    for other in card.data.get("look_alikes") or ():
        page.text(f"{other['name']}: {other['because']}", 2, 4)


def _remedies(page: Page, remedies: Sequence[Mapping[str, Any]], lang: str) -> None:
    if remedies:
        page.heading(_word("To try, in this order", lang))
    for remedy in remedies:
        condition = f", {_word('if', lang)} {remedy['if']}" if "if" in remedy else ""
        page.text(f"{remedy['key']} = {remedy.get('to')}{condition}", 2, 4)
        told = (f"{_word(label, lang)}: {remedy[key]}" for label, key in _TOLD if remedy.get(key))
        page.text("; ".join(told), 6)


# Labels of the page in Chinese.
_CHINESE = {
    "Cause": "原因",
    "Fix": "处理",
    "Wrong when": "何时不准",
    "To try, in this order": "依次尝试",
    "if": "条件",
    "because": "理由",
    "expect": "预期",
    "price": "代价",
}


def _word(label: str, lang: str) -> str:
    return _CHINESE.get(label, label) if lang == "zh" else label


_TOLD = (("because", "because"), ("expect", "effect"), ("price", "side_effect"))


def _references(page: Page, references: Sequence[Mapping[str, Any]]) -> None:
    if references:
        page.heading("References")
    for reference in references:
        page.line(f"  {reference['title']}: {reference['url']}")
