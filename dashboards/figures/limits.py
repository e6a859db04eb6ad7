"""Thresholds that can be drawn: where a card compares a metric's own level with a plain number."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.model import Severity

LEVEL = {"med", "mean", "min", "max", "last", "abs"}  # keep a metric's own unit and scale


@dataclass(frozen=True)
class Limit:
    """A card's threshold on a metric: crossing it is at least one condition of the level."""

    metric: str
    value: float
    severity: Severity
    rule: str
    name: str
    unit: str
    above: bool


def limits(card: Card) -> Iterator[Limit]:
    """The limits of one card on what it is about (its first need), each threshold once, at the mildest level."""
    about = card.needs[0] if card.needs else ""
    seen: set[tuple[str, str]] = set()
    lets = {name: _parsed(text) for name, text in card.let.items()}
    for level in reversed(card.levels):
        for found in _comparisons(_parsed(level.when), lets):
            metric, threshold, above = found
            entry = card.thresholds.get(threshold)
            if entry is not None and metric in about and (metric, threshold) not in seen:
                seen.add((metric, threshold))
                yield Limit(metric, float(entry.value), level.severity, card.name, threshold, entry.unit, above)


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _comparisons(
    node: ast.expr | None, lets: Mapping[str, ast.expr | None], depth: int = 0
) -> Iterator[tuple[str, str, bool]]:
    """(metric, threshold's name, whether above it is worse) of every plain comparison."""
    if node is None or depth > 6:
        return
    for part in ast.walk(node):
        if not isinstance(part, ast.Compare) or len(part.ops) != 1:
            continue
        metric, right = _level(part.left, lets), part.comparators[0]
        above = isinstance(part.ops[0], ast.Gt | ast.GtE)
        if metric and isinstance(right, ast.Name) and isinstance(part.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE):
            yield metric, right.id, above


def _level(node: ast.expr | None, lets: Mapping[str, ast.expr | None], depth: int = 0) -> str:
    """The metric whose own level an expression is, "" for anything else."""
    if node is None or depth > 6:
        return ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return _level(lets.get(node.id), lets, depth + 1)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LEVEL and node.args:
        return _level(node.args[0], lets, depth + 1)
    return ""
