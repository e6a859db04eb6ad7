"""A threshold moved threefold or tenfold, or a comparison turned round, turns a case of its card red."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import klinic.diagnostics.readers as readers
from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.library import load_cards
from klinic.diagnostics.engine.mutants import survivors

CARDS = [card for card in load_cards([Path(__file__).parents[2] / "rules"]) if card.kind != "incident"]


@pytest.fixture(autouse=True)
def _recordings_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "open_run", _opened)


_open_run = readers.open_run


@cache
def _opened(path: Path) -> object:
    return _open_run(path)


@pytest.mark.slow
@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_no_mutant_survives(card: Card) -> None:
    assert survivors(card) == []
