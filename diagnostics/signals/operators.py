"""Arithmetic, comparison and three-valued logic over streams and scalars."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from klinic.diagnostics.signals.node import Constant, Elementwise, Node
from klinic.diagnostics.signals.stream import Value

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Pow: "**", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": operator.mod,
    "**": operator.pow, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip


def finite(value: Value) -> Value:
    """Unknown in place of what is no finite number."""
    if isinstance(value, np.ndarray):
        return np.where(np.isfinite(value), value, np.nan)
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def _power(left: float, right: float) -> float:
    return float(np.power(left, right))


@cache
def _calculated(symbol: str) -> Callable[[Any, Any], Any]:
    """Of two scalars; unknown where one is, where they do not fit or where the result is not finite."""
    function = _power if symbol == "**" else FUNCTIONS[symbol]

    def one(left: Any, right: Any) -> Any:
        if left is None or right is None:
            return None
        try:
            result = function(left, right)
            return result if math.isfinite(result) else None
        except (ZeroDivisionError, OverflowError, TypeError):
            return None

    return one


@cache
def _judged(symbol: str) -> Callable[[Any, Any], Any]:
    """Of two scalars; unknown where one is, or where they have no order."""
    function = FUNCTIONS[symbol]

    def one(left: Any, right: Any) -> Any:
        if left is None or right is None:
            return None
        try:
            return function(left, right)
        except TypeError:
            return None

    return one


def _unfit(value: Value) -> bool:
    return value is None or isinstance(value, str)


def _calculation(symbol: str) -> Callable[[Value, Value], Value]:
    function, one = FUNCTIONS[symbol], _calculated(symbol)

    def apply(left: Value, right: Value) -> Value:
        if not (isinstance(left, np.ndarray) or isinstance(right, np.ndarray)):
            return one(left, right)
        if _unfit(left) or _unfit(right):
            return None
        return finite(function(left, right))

    return apply


def _judgement(symbol: str) -> Callable[[Value, Value], Value]:
    function, one = FUNCTIONS[symbol], _judged(symbol)

    def apply(left: Value, right: Value) -> Value:
        if not (isinstance(left, np.ndarray) or isinstance(right, np.ndarray)):
            return one(left, right)
        if _unfit(left) or _unfit(right):
            return None
        return np.where(np.isnan(left) | np.isnan(right), np.nan, function(left, right))

    return apply


def arithmetic(symbol: str, left: Node, right: Node) -> Node:
    """`left symbol right`; unknown where an operand is, or where the result is not finite."""
    key = f"({left.key} {symbol} {right.key})"
    return folded(Elementwise(key, (left, right), _calculation(symbol), one=_calculated(symbol)))


def settled(node: Node, kind: Any) -> Node:
    """A config value where a number or a truth value is wanted; unknown where it is something else."""

    def apply(value: Value) -> Value:
        if kind == "truth":
            return value if isinstance(value, bool) else None
        return None if isinstance(value, str) else (None if value is None else float(value))

    return Elementwise(f"{kind}:{node.key}", (node,), apply, kind)


class Comparison(Elementwise):
    """A comparison of two numbers; evidence is read off its sides."""

    def __init__(self, symbol: str, left: Node, right: Node) -> None:
        key = f"({left.key} {symbol} {right.key})"
        super().__init__(key, (left, right), _judgement(symbol), "truth", _judged(symbol))
        self.symbol = symbol


def comparison(symbol: str, left: Node, right: Node) -> Node:
    """Truth where both sides are known."""
    return Comparison(symbol, left, right)


def equality(symbol: str, left: Node, right: Node) -> Node:
    """Equality of texts or truth values."""
    return Elementwise(f"({left.key} {symbol} {right.key})", (left, right), _judgement(symbol), "truth")


def membership(item: Node, values: Sequence[Any]) -> Node:
    """Whether a scalar or a number is one of the values."""
    fixed = list(values)
    numbers = [one for one in fixed if not isinstance(one, str)]

    def apply(value: Value) -> Value:
        if isinstance(value, np.ndarray):
            return np.where(np.isnan(value), np.nan, np.isin(value, numbers))
        return None if value is None else value in fixed

    return Elementwise(f"({item.key} in {fixed!r})", (item,), apply, "truth")


def kleene(word: str, left: Value, right: Value) -> Value:
    """Three-valued and/or; scalars stay scalars."""
    strong = word == "or"
    if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
        if strong in (left, right):
            return strong
        return None if None in (left, right) else not strong
    first, second = (np.nan if side is None else side for side in (left, right))
    decided = (first == strong) | (second == strong)
    return np.where(decided, float(strong), np.where(np.isnan(first) | np.isnan(second), np.nan, float(not strong)))


def logic(word: str, parts: Sequence[Node]) -> Node:
    """`and` or `or` of several."""
    strong = word == "or"

    def one(*values: Value) -> Value:
        if strong in values:
            return strong
        return None if None in values else not strong

    def apply(*values: Value) -> Value:
        result = values[0]
        for value in values[1:]:
            result = kleene(word, result, value)
        return result

    return Elementwise(f"({f' {word} '.join(part.key for part in parts)})", parts, apply, "truth", one)


def negation(part: Node) -> Node:
    """`not`."""

    def apply(value: Value) -> Value:
        if value is None:
            return None
        return 1.0 - value if isinstance(value, np.ndarray) else not value

    key = f"(not {part.key})"
    return Elementwise(key, (part,), apply, "truth", lambda value: None if value is None else not value)


def minus(part: Node) -> Node:
    """Unary minus."""
    return folded(Elementwise(f"(-{part.key})", (part,), lambda v: None if v is None else -v))


def choice(test: Node, yes: Node, no: Node) -> Node:
    """`yes if test else no`; unknown where the test is."""
    kind = yes.kind if yes.kind == no.kind else "number"

    def apply(when: Value, one: Value, other: Value) -> Value:
        if not isinstance(when, np.ndarray):
            picked = None if when is None else (one if when else other)
            return picked if test.still or not isinstance(picked, str) else None
        sides = [np.nan if _unfit(value) else value for value in (one, other)]
        return np.where(np.isnan(when), np.nan, np.where(when > 0.5, *sides))

    key = f"({yes.key} if {test.key} else {no.key})"
    return Elementwise(key, (test, yes, no), apply, kind)


def folded(node: Node) -> Node:
    """A constant in place of an operation on constants."""
    if not isinstance(node, Elementwise) or not node.children:
        return node
    values = [child.value for child in node.children if isinstance(child, Constant)]
    return Constant(node.fn(*values)) if len(values) == len(node.children) else node
