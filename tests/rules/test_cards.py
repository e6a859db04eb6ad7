"""Metric cards: they load, hold to the format, and each of their cases gives what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from klinic.diagnostics.engine.card import Card, load_card
from klinic.diagnostics.engine.cases import load_cases, run_case
from klinic.diagnostics.engine.lint import check_card
from klinic.diagnostics.engine.remedy import evaluate
from klinic.diagnostics.signals import compile_text
from klinic.diagnostics.verlconfig import table

RULES = Path(__file__).parents[2] / "rules"
CARDS = sorted(
    path
    for path in RULES.glob("*/*.yaml")
    if path.parent.name not in ("profiles", "vitals", "incident", "config") and not path.stem.endswith(".cases")
)
CASES = [
    pytest.param(path, case, id=f"{path.stem}/{case.name}")
    for path in CARDS
    for case in load_cases(path.with_name(f"{path.stem}.cases.yaml"))
]


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_card_holds_to_the_format(path: Path) -> None:
    assert [str(problem) for problem in check_card(path)] == []
    card = load_card(path)
    assert card.name == path.stem
    assert card.kind == "metric"


@pytest.mark.parametrize(("path", "case"), CASES)
def test_case(path: Path, case: object) -> None:
    result = run_case(load_card(path), case)  # type: ignore[arg-type]
    assert result.passed, str(result)


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_card_has_a_firing_a_quiet_and_a_silent_case(path: Path) -> None:
    expected = [case.data["expect"] for case in load_cases(path.with_name(f"{path.stem}.cases.yaml"))]
    assert any(isinstance(expect, dict) and "severity" in expect for expect in expected)
    assert any(
        expect == "quiet" or (isinstance(expect, dict) and expect.get("severity") == "info") for expect in expected
    )
    assert any(isinstance(expect, dict) and "not_applicable" in expect for expect in expected)


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_remedies_name_keys_of_verl(path: Path) -> None:
    remedies = [remedy for remedy in load_card(path).remedies if remedy.get("framework", "verl") == "verl"]
    unknown = [r["key"] for r in remedies if not r["key"].startswith("+") and table.entry(r["key"]) is None]
    assert unknown == []


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_remedies_can_be_computed(path: Path) -> None:
    card = load_card(path)
    for remedy in card.remedies:
        if "if" in remedy:
            compile_text(str(remedy["if"]), card.scope(), "truth")
        evaluate(remedy["to"], 1, lambda key: 1.0, signal=lambda text: _compiles(card, text))


def _compiles(card: Card, text: str) -> float:
    compile_text(text, card.scope(), "number")
    return 1.0


def test_ids_and_names_are_never_used_twice() -> None:
    cards = [load_card(path) for path in CARDS]
    assert len({card.id for card in cards}) == len(cards)
    assert len({card.name for card in cards}) == len(cards)
