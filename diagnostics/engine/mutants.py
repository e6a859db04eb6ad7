"""Mutants of a card: thresholds moved, comparisons turned round. A good set of cases turns red for each."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.cases import load_cases, run_case
from klinic.diagnostics.signals.parse import parse

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
        assert isinstance(node, ast.Compare)  # noqa: S101 (the same walk found it)
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
