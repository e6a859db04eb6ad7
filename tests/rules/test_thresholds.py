"""A threshold moved threefold, up or down, turns a case of its card red."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import klinic.diagnostics.readers as readers
from klinic.diagnostics.engine.card import Card, load_card, replaced
from klinic.diagnostics.engine.cases import load_cases, run_case

RULES = Path(__file__).parents[2] / "rules"
SKIPPED = ("profiles", "vitals", "incident", "config")
CARDS = [
    load_card(path)
    for path in sorted(RULES.glob("*/*.yaml"))
    if path.parent.name not in SKIPPED and not path.stem.endswith(".cases")
]
MUTANTS = [
    pytest.param(card, name, factor, id=f"{card.name}/{name}x{factor}")
    for card in CARDS
    for name in card.thresholds
    for factor in (0.3, 3.0)
]
# Both sides of these cannot be told apart by a case: the neighbouring condition decides first.
ALIVE = {
    ("grad-norm-growth", "steady", 0.3),
    ("grad-norm-spike", "far", 3.0),
    ("repetition", "sure", 3.0),
    ("val-overfit", "evals", 0.3),
}


@pytest.fixture(autouse=True)
def _recordings_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "open_run", _opened)


_open_run = readers.open_run


@cache
def _opened(path: Path) -> object:
    return _open_run(path)


@pytest.mark.slow
@pytest.mark.parametrize(("card", "name", "factor"), MUTANTS)
def test_a_moved_threshold_is_noticed(card: Card, name: str, factor: float) -> None:
    old = card.thresholds[name]
    mutant = replaced(card, thresholds={**card.thresholds, name: replace(old, value=old.value * factor)})
    assert card.cases_path is not None
    survives = all(run_case(mutant, case).passed for case in load_cases(card.cases_path))
    assert survives == ((card.name, name, factor) in ALIVE)
