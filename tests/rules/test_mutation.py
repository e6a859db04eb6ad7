"""A threshold moved threefold or tenfold, or a comparison turned round, turns a case of its card red."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

import klinic.diagnostics.readers as readers
from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.cases import load_cases, run_case
from klinic.diagnostics.engine.library import load_card, load_cards
from klinic.diagnostics.signals.parse import parse

CARDS = [card for card in load_cards([Path(__file__).parents[2] / "rules"]) if card.kind != "incident"]
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
FACTORS = (10.0, 3.0, 0.3, 0.1)


@dataclass(frozen=True)
class Mutant:
    """A card with one thing changed, and what that is."""

    card: Card
    change: str


def mutants(card: Card) -> Iterator[Mutant]:
    """Each threshold times each of FACTORS, and each comparison of each level and let turned round."""
    for name, threshold in card.thresholds.items():
        for factor in FACTORS:
            moved = replace(threshold, value=threshold.value * factor if threshold.value else factor)
            changed = replace(card, thresholds={**card.thresholds, name: moved})
            yield Mutant(changed, f"{name} {threshold.value:g} -> {moved.value:g}")
    for index, level in enumerate(card.levels):
        for text, change in _turned(level.when):
            levels = [*card.levels[:index], replace(level, when=text), *card.levels[index + 1 :]]
            yield Mutant(replace(card, levels=tuple(levels)), f"{level.severity}: {change}")
    for name, written in card.let.items():
        for text, change in _turned(written):
            data = {**card.data, "let": {**card.let, name: text}}
            yield Mutant(replace(card, data=data), f"{name}: {change}")


def _turned(text: str) -> Iterator[tuple[str, str]]:
    tree = parse(text)
    places = [
        (i, j) for i, node in enumerate(ast.walk(tree)) if isinstance(node, ast.Compare) for j in range(len(node.ops))
    ]
    for i, j in places:
        changed = copy.deepcopy(tree)
        node = next(node for at, node in enumerate(ast.walk(changed)) if at == i)
        assert isinstance(node, ast.Compare)
        before = ast.unparse(node)
        turned = _TURNED.get(type(node.ops[j]))
        if turned is not None:
            node.ops[j] = turned()
            yield ast.unparse(changed), f"{before} -> {ast.unparse(node)}"


def survivors(card: Card) -> list[str]:
    """Changes that no case of the card notices; empty for well-covered cards.

    Raises CaseError where the file of cases cannot be read.
    """
    path = card.cases_path
    cases = load_cases(path) if path is not None and path.exists() else []
    return [one.change for one in mutants(card) if all(run_case(one.card, case).passed for case in cases)]


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


SAMPLE = """\
id: POL93
name: sample-card
kind: metric
needs: [actor/ppo_kl]
levels:
  warn: {when: "'actor/ppo_kl' > floor", for: {k: 2, of: 3}}
thresholds:
  floor: {value: 0.02, unit: nats/token, source: test}
summary: it is high
"""
LOOSE = '- {name: a, source: x, series: {actor/ppo_kl: "0x10 1x3"}, expect: {severity: warn, first_step: 11}}'
TIGHT = '\n- {name: b, source: x, series: {actor/ppo_kl: "0.01x10 0.04x3"}, expect: {severity: warn, first_step: 11}}'


def test_thresholds_move_and_comparisons_turn(tmp_path: Path) -> None:
    path = tmp_path / "policy" / "sample-card.yaml"
    path.parent.mkdir()
    path.write_text(SAMPLE)
    cases = path.with_name("sample-card.cases.yaml")
    cases.write_text(LOOSE)
    card = load_card(path)
    moved = [f"floor 0.02 -> {value}" for value in (0.2, 0.06, 0.006, 0.002)]
    turned = "warn: 'actor/ppo_kl' > floor -> 'actor/ppo_kl' <= floor"
    assert [one.change for one in mutants(card)] == [*moved, turned]
    assert survivors(card) == moved
    cases.write_text(LOOSE + TIGHT)
    assert survivors(card) == []
