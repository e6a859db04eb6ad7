"""Every known failure mode has a card that exists, or a reason why it has none."""

from __future__ import annotations

from pathlib import Path

import yaml

from klinic.diagnostics.engine.library import load_cards

RULES = Path(__file__).parents[2] / "rules"
COVERAGE = yaml.safe_load((RULES / "coverage.yaml").read_text("utf-8"))
MODES = (Path(__file__).parents[1] / "data" / "failure-modes.txt").read_text("utf-8").split()
NAMES = {card.name for card in load_cards([RULES])}


def test_the_list_is_complete() -> None:
    assert len(MODES) == len(set(MODES)) == 79
    assert sorted(COVERAGE) == sorted(MODES)


def test_every_card_that_is_named_exists_and_a_reason_is_a_sentence() -> None:
    named = {mode: names for mode, names in COVERAGE.items() if isinstance(names, list)}
    assert [mode for mode, names in named.items() if not names or not NAMES.issuperset(names)] == []
    assert all(len(reason.split()) > 5 for mode, reason in COVERAGE.items() if mode not in named)


def test_few_modes_go_without_a_card() -> None:
    assert [mode for mode in MODES if isinstance(COVERAGE[mode], str)] == ["sft_loss_divergence"]
