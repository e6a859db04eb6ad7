"""`klinic explain --format json`: rules, metrics and settings as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from klinic.diagnostics.engine.wording import in_general
from klinic.diagnostics.knowledge import MetricInfo
from klinic.diagnostics.knowledge.checks import Check
from klinic.diagnostics.knowledge.parameters import Parameter
from klinic.diagnostics.language import current_language
from klinic.diagnostics.report.checkpage import check_data
from klinic.diagnostics.report.jsontext import written
from klinic.diagnostics.report.parameterpage import parameter_data

if TYPE_CHECKING:
    from klinic.diagnostics.engine.card import Card

TEXTS = ("summary", "message", "why", "cause", "fix", "wrong_when")


def as_json(found: Sequence[Card | MetricInfo | Parameter | Check], cards: Sequence[Card]) -> str:
    """A list with one object for each thing that was found; `kind` says what it is."""
    data = [_data(one, cards) for one in found]
    return written(data)


def _data(one: Card | MetricInfo | Parameter | Check, cards: Sequence[Card]) -> dict[str, Any]:
    if isinstance(one, Parameter):
        return parameter_data(one, cards)
    if isinstance(one, Check):
        return check_data(one)
    if isinstance(one, MetricInfo):
        return {"kind": "metric", **asdict(one), "let": dict(one.let)}
    return {"kind": "rule", "id": one.id, "name": one.name, **_card(one)}


def _card(card: Card) -> dict[str, Any]:
    lang = current_language()
    return {
        **{name: in_general(card.text(name, lang)) for name in TEXTS if card.text(name, lang)},
        "levels": [{"severity": str(level.severity), "when": level.when} for level in card.levels],
        "try": [dict(remedy) for remedy in card.tries(lang)],
        "look_alikes": [dict(one) for one in card.looks(lang)],
        "explains": list(card.explains),
    }
