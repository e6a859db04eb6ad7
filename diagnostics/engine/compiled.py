"""A card made ready to judge: its levels as nodes, what it needs, the comparisons that are its evidence."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from klinic.diagnostics.engine.card import Card, CardError, Level
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.signals import ExpressionError, Node, Scope, compile_text
from klinic.diagnostics.signals.compile import compile_tree
from klinic.diagnostics.signals.parse import parse
from klinic.diagnostics.signals.scope import demand


@dataclass(frozen=True)
class Piece:
    """A top-level comparison of a level: words for a person, whether it holds, its sides."""

    text: str
    op: str
    unit: str
    truth: Node
    left: Node | None = None
    right: Node | None = None


@dataclass(frozen=True)
class CompiledLevel:
    """A level and its node; the comparisons that are its evidence are compiled on use, for cards that fire."""

    level: Level
    node: Node
    card: Card

    @property
    def severity(self) -> Severity:
        """The level's severity."""
        return self.level.severity

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Top-level comparisons in the order in which they are written."""
        scope = self.card.scope()
        return tuple(_piece(part, self.card, scope) for part in _flat(parse(self.level.when), scope))


@dataclass(frozen=True)
class CompiledCard:
    """A metric or config card ready to judge."""

    card: Card
    applies: Node | None
    levels: tuple[CompiledLevel, ...]

    def roots(self) -> Iterator[Node]:
        """Every node that is evaluated at each row."""
        if self.applies is not None:
            yield self.applies
        for level in self.levels:
            yield level.node


def compile_card(card: Card) -> CompiledCard:
    """Compile applies and levels. Raises CardError with the file and the expression's place."""
    scope = card.scope()
    applies = _compiled(card, "applies", card.applies, scope) if card.applies else None
    levels = tuple(
        CompiledLevel(level, _compiled(card, f"levels.{level.severity}.when", level.when, scope), card)
        for level in card.levels
    )
    return CompiledCard(card, applies, levels)


def _compiled(card: Card, where: str, text: str, scope: Scope) -> Node:
    try:
        return compile_text(text, scope, "truth")
    except ExpressionError as error:
        place = card.path or card.id
        raise CardError(f"{place}: {where}, column {error.column}: {error}") from None


def _flat(tree: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """Operands of `and`/`or`, chains taken apart, truths followed into `let`, through `fill` and past a guard."""
    tree = _unwrapped(tree)
    if isinstance(tree, ast.BoolOp):
        for part in tree.values:
            yield from _flat(part, scope)
    elif isinstance(tree, ast.Compare) and len(tree.ops) > 1:
        sides = [tree.left, *tree.comparators]
        for index, op in enumerate(tree.ops):
            yield ast.copy_location(ast.Compare(sides[index], [op], [sides[index + 1]]), tree)
    elif isinstance(tree, ast.Name) and tree.id in scope.lets:
        inner = _unwrapped(parse(scope.lets[tree.id]))
        yield from _flat(inner, scope) if isinstance(inner, ast.BoolOp | ast.Compare) else iter([tree])
    else:
        yield tree


def _unwrapped(tree: ast.expr) -> ast.expr:
    """What is claimed, without its default (`fill(X, False)`) and its guard (`X if C else False`)."""
    if isinstance(tree, ast.IfExp) and _is_false(tree.orelse):
        return _unwrapped(tree.body)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "fill":
        return _unwrapped(tree.args[0]) if _is_false(tree.args[-1]) else tree
    return tree


def _is_false(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value is False


def _piece(tree: ast.expr, card: Card, scope: Scope) -> Piece:
    truth = demand(tree, compile_tree(tree, scope), "truth")
    if not isinstance(tree, ast.Compare) or isinstance(tree.ops[0], ast.In | ast.NotIn):
        return Piece(words(tree, scope), "", "", truth)
    sides = (tree.left, tree.comparators[0])
    left, right = (compile_tree(side, scope) for side in sides)
    if isinstance(tree.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):  # a config value in an order is a number
        left, right = (demand(side, node, "number") for side, node in zip(sides, (left, right), strict=True))
    numbers = left.kind == right.kind == "number"
    op = _SYMBOL[type(tree.ops[0])]
    unit = _unit(tree.comparators[0], card) or _unit(tree.left, card)
    return Piece(words(tree.left, scope), op, unit, truth, left if numbers else None, right if numbers else None)


_SYMBOL: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def _unit(tree: ast.expr, card: Card) -> str:
    if any(isinstance(node, ast.Compare) for node in ast.walk(tree)):
        return ""  # how often something held, whatever the unit of that
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return next((card.thresholds[name].unit for name in names if name in card.thresholds), "")


def words(tree: ast.expr, scope: Scope) -> str:
    """An expression as a person reads it: `med(|actor/ppo_kl|, 5)`."""
    spelled = _Spelled(scope).visit(ast.parse(ast.unparse(tree), mode="eval").body)
    return _QUOTED.sub(lambda found: found[1], ast.unparse(spelled))


_QUOTED = re.compile(r"'([^']*)'")


class _Spelled(ast.NodeTransformer):
    """Lets and thresholds written out, abs as bars."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A let's name becomes its expression, a threshold's its value."""
        if node.id in self.scope.lets:
            lets = dict(list(self.scope.lets.items())[: list(self.scope.lets).index(node.id)])
            return _Spelled(Scope(self.scope.thresholds, lets)).visit(copy.deepcopy(parse(self.scope.lets[node.id])))  # type: ignore[no-any-return]
        value = self.scope.thresholds.get(node.id)
        return ast.Name(f"{value:g}", ast.Load()) if isinstance(value, int | float) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """abs(x) becomes |x|."""
        self.generic_visit(node)
        if getattr(node.func, "id", "") == "abs" and len(node.args) == 1:
            return ast.Name(f"|{ast.unparse(node.args[0])}|", ast.Load())
        return node
