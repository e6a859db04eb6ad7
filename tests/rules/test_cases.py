"""Config and incident cards: they hold to the format and each of their cases gives what it says (see test_cards)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.cases import Case, load_cases, run_case
from klinic.diagnostics.engine.library import load_cards
from klinic.diagnostics.engine.lint import check_card

RULES = Path(__file__).parents[2] / "rules"
CARDS = load_cards([RULES])
OTHERS = [card for card in CARDS if card.kind != "metric"]


def cases_of(card: Card) -> list[Case]:
    path = card.cases_path
    return load_cases(path) if path is not None and path.exists() else []


CASES = [pytest.param(card, case, id=f"{card.name}/{case.name}") for card in OTHERS for case in cases_of(card)]


@pytest.mark.parametrize("card", OTHERS, ids=lambda card: card.name)
def test_card_holds_to_the_format(card: Card) -> None:
    assert card.path is not None
    assert [str(problem) for problem in check_card(card.path)] == []


@pytest.mark.parametrize(("card", "case"), CASES)
def test_case(card: Card, case: Case) -> None:
    result = run_case(card, case)
    assert result.passed, str(result)


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_every_card_has_a_case_that_fires(card: Card) -> None:
    expected = [case.data["expect"] for case in cases_of(card)]
    assert any(isinstance(one, dict) and "severity" in one for one in expected)


def test_every_card_of_a_config_or_an_incident_has_a_near_miss() -> None:
    assert [card.name for card in OTHERS if not any(case.data["expect"] == "quiet" for case in cases_of(card))] == []


def test_every_card_speaks_chinese() -> None:
    han = re.compile(r"[\u4e00-\u9fff]")
    told = ("summary", "why")
    assert [card.name for card in CARDS if not all(han.search(card.text(key, "zh")) for key in told)] == []


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_what_a_card_explains_is_there(card: Card) -> None:
    names = {one.name for one in CARDS}
    assert [name for name in card.explains if name not in names] == []
