"""Every card: it holds to the format, and each of its cases gives what it says; both sides of it have a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.cases import load_cases, run_cases
from klinic.diagnostics.engine.library import load_cards
from klinic.diagnostics.engine.lint import check_card
from klinic.diagnostics.engine.remedy import evaluate
from klinic.diagnostics.signals import compile_text

CARDS = load_cards([Path(__file__).parents[2] / "rules"])
OF_METRICS = [card for card in CARDS if card.kind == "metric"]
OTHERS = [card for card in CARDS if card.kind != "metric"]


def expected(card: Card) -> list[Any]:
    """What each case of a card expects."""
    assert card.cases_path is not None
    return [case.data["expect"] for case in load_cases(card.cases_path)]


def fires(expect: Any) -> bool:
    return isinstance(expect, dict) and "severity" in expect


def is_quiet(expect: Any) -> bool:
    return expect == "quiet" or (isinstance(expect, dict) and expect.get("severity") == "info")


def is_silent(expect: Any) -> bool:
    return isinstance(expect, dict) and "not_applicable" in expect


def without(cards: list[Card], shown: Callable[[Any], bool]) -> list[str]:
    """Names of the cards none of whose cases shows this."""
    return [card.name for card in cards if not any(map(shown, expected(card)))]


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_a_card_holds_to_the_format_and_each_case_gives_what_it_says(card: Card) -> None:
    assert card.path is not None
    assert [str(problem) for problem in check_card(card.path)] == []
    assert card.name == card.path.stem
    results = run_cases(card.path, card)
    assert results, "a card needs cases"
    assert [str(result) for result in results if not result.passed] == []


def test_every_card_has_a_case_that_fires() -> None:
    assert without(list(CARDS), fires) == []


def test_every_card_has_a_near_miss() -> None:
    assert without(OF_METRICS, is_quiet) == []
    assert without(OTHERS, lambda expect: bool(expect == "quiet")) == []


def test_every_card_of_metrics_has_a_case_where_they_are_missing() -> None:
    assert without(OF_METRICS, is_silent) == []


def test_what_a_card_explains_is_there() -> None:
    names = {card.name for card in CARDS}
    assert [(card.name, name) for card in CARDS for name in card.explains if name not in names] == []


def test_ids_and_names_are_never_used_twice() -> None:
    assert len({card.id for card in CARDS}) == len({card.name for card in CARDS}) == len(CARDS)


def refused(card: Card) -> Iterator[str]:
    """Conditions and values of a card's remedies that cannot be computed, each with why."""

    def compiles(text: str) -> float:
        compile_text(text, card.scope(), "number")
        return 1.0

    for remedy in card.remedies:
        try:
            if "if" in remedy:
                compile_text(str(remedy["if"]), card.scope(), "truth")
            evaluate(remedy["to"], 1, lambda key: 1.0, signal=compiles)
        except ValueError as problem:
            yield f"{card.name}, {remedy['key']}: {problem}"


def test_remedies_can_be_computed() -> None:
    assert [problem for card in CARDS for problem in refused(card)] == []
