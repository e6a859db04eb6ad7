"""A card made ready to judge: its levels as nodes, what it needs, the comparisons that are its evidence."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from klinic.diagnostics.engine.card import Card, CardError, Level
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.signals import ExpressionError, Node, Scope, compile_text
from klinic.diagnostics.signals.compile import compile_tree
from klinic.diagnostics.signals.parse import parse
from klinic.diagnostics.signals.scope import demand


@dataclass(frozen=True)
class Piece:
    """A top-level comparison of a level: words for a person, whether it holds, its sides.

    each: of `any_of` and `all_of`, the comparisons for one metric of the list.
    """

    text: str
    op: str
    unit: str
    truth: Node
    left: Node | None = None
    right: Node | None = None
    expression: str = ""
    each: Callable[[str], tuple[Piece, ...]] | None = None


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
    """A metric or config card ready to judge. It is compiled on use: a run lacks the metrics of half the cards.

    Asking for nodes raises CardError with the file and the expression's place.
    """

    card: Card

    @cached_property
    def applies(self) -> Node | None:
        """Where it judges at all."""
        return _compiled(self.card, "applies", self.card.applies, self._scope) if self.card.applies else None

    @cached_property
    def levels(self) -> tuple[CompiledLevel, ...]:
        """Its levels, the highest first."""
        return tuple(
            CompiledLevel(
                level, _compiled(self.card, f"levels.{level.severity}.when", level.when, self._scope), self.card
            )
            for level in self.card.levels
        )

    @cached_property
    def _scope(self) -> Scope:
        return self.card.scope()

    def roots(self) -> Iterator[Node]:
        """Every node that is evaluated at each row."""
        if self.applies is not None:
            yield self.applies
        for level in self.levels:
            yield level.node


def compiled(card: Card) -> CompiledCard:
    """The card ready to judge, made once: nodes hold no state."""
    found: CompiledCard | None = card.worked_out.get(CompiledCard)
    if found is None:
        found = card.worked_out[CompiledCard] = CompiledCard(card)
    return found


def compile_card(card: Card) -> CompiledCard:
    """The card with all its expressions compiled. Raises CardError with the file and the expression's place."""
    found = compiled(card)
    for _ in found.roots():
        pass
    return found


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
        yield from _flat(inner, scope) if isinstance(inner, ast.BoolOp | ast.Compare | ast.Call) else iter([tree])
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
        return Piece(words(tree, scope), "", "", truth, None, None, expression(tree, scope), _each(tree, card, scope))
    sides = (tree.left, tree.comparators[0])
    left, right = (compile_tree(side, scope) for side in sides)
    if isinstance(tree.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):  # a config value in an order is a number
        left, right = (demand(side, node, "number") for side, node in zip(sides, (left, right), strict=True))
    numbers = left.kind == right.kind == "number"
    op = _SYMBOL[type(tree.ops[0])]
    unit = _unit(tree.comparators[0], card) or _unit(tree.left, card)
    text, source = words(tree.left, scope), expression(tree.left, scope)
    return Piece(text, op, unit, truth, left if numbers else None, right if numbers else None, source)


def _each(tree: ast.expr, card: Card, scope: Scope) -> Callable[[str], tuple[Piece, ...]] | None:
    """The comparisons of `any_of(list, P)` with a metric's name in the place of `it`."""
    if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in ("any_of", "all_of")):
        return None
    claim = [*tree.args, *(word.value for word in tree.keywords)][-1]

    def pieces(name: str) -> tuple[Piece, ...]:
        mine = replace(scope, it=name)
        return tuple(_piece(part, card, mine) for part in _flat(claim, mine))

    return pieces


_SYMBOL: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def _unit(tree: ast.expr, card: Card) -> str:
    """The unit of the first threshold that a side is, or is chosen from: of a multiple of it nobody knows the unit."""
    if isinstance(tree, ast.Name):
        return card.thresholds[tree.id].unit if tree.id in card.thresholds else ""
    chosen = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in _CHOICES
    return next((unit for part in tree.args if (unit := _unit(part, card))), "") if chosen else ""  # type: ignore[attr-defined]


_CHOICES = ("highest", "lowest", "fill", "coalesce")


def expression(tree: ast.expr, scope: Scope) -> str:
    """An expression with lets and thresholds written out: `med(abs('actor/ppo_kl'), 5)`."""
    return ast.unparse(_Expanded(scope).visit(ast.parse(ast.unparse(tree), mode="eval").body))


def words(tree: ast.expr, scope: Scope) -> str:
    """An expression as a person reads it: `med(|actor/ppo_kl|, 5)`."""
    spelled = _Barred().visit(ast.parse(expression(tree, scope), mode="eval").body)
    return _QUOTED.sub(lambda found: found[1], ast.unparse(spelled))


_QUOTED = re.compile(r"'([^']*)'")


class _Expanded(ast.NodeTransformer):
    """Lets, thresholds and `it` written out."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A let's name becomes its expression, a threshold's its value, `it` its metric."""
        if node.id == "it" and self.scope.it is not None:
            return ast.Constant(self.scope.it)
        if node.id in self.scope.lets:
            lets = dict(list(self.scope.lets.items())[: list(self.scope.lets).index(node.id)])
            inner = replace(self.scope, lets=lets)
            return _Expanded(inner).visit(copy.deepcopy(parse(self.scope.lets[node.id])))  # type: ignore[no-any-return]
        value = self.scope.thresholds.get(node.id)
        return ast.Name(f"{value:g}", ast.Load()) if isinstance(value, int | float) else node


class _Barred(ast.NodeTransformer):
    """abs as bars."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """abs(x) becomes |x|."""
        self.generic_visit(node)
        if getattr(node.func, "id", "") == "abs" and len(node.args) == 1:
            return ast.Name(f"|{ast.unparse(node.args[0])}|", ast.Load())
        return node
