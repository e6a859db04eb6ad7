"""Arithmetic, comparison and three-valued logic over streams and scalars."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from klinic.diagnostics.signals.node import Constant, Elementwise, Node, Value

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
    if isinstance(value, pl.Series):
        bad = ~value.is_finite()
        return value.set(bad.fill_null(False), None) if bad.any() else value
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def _binary(symbol: str) -> Callable[[Value, Value], Value]:
    function = FUNCTIONS[symbol]

    def apply(left: Value, right: Value) -> Value:
        if left is None or right is None:
            return None
        try:
            return function(left, right)
        except (ZeroDivisionError, OverflowError, TypeError):
            return None

    return apply


def arithmetic(symbol: str, left: Node, right: Node) -> Node:
    """`left symbol right`; unknown where an operand is, or where the result is not finite."""
    apply = _binary(symbol)
    return folded(Elementwise(f"({left.key} {symbol} {right.key})", (left, right), lambda a, b: finite(apply(a, b))))


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
        super().__init__(f"({left.key} {symbol} {right.key})", (left, right), _binary(symbol), "truth")
        self.symbol = symbol


def comparison(symbol: str, left: Node, right: Node) -> Node:
    """Truth where both sides are known."""
    return Comparison(symbol, left, right)


def equality(symbol: str, left: Node, right: Node) -> Node:
    """Equality of texts or truth values."""
    return Elementwise(f"({left.key} {symbol} {right.key})", (left, right), _binary(symbol), "truth")


def membership(item: Node, values: Sequence[Any]) -> Node:
    """Whether a scalar or a number is one of the values."""
    fixed = list(values)

    def apply(value: Value) -> Value:
        if value is None:
            return None
        return value.is_in(fixed) if isinstance(value, pl.Series) else value in fixed

    return Elementwise(f"({item.key} in {fixed!r})", (item,), apply, "truth")


def truth(value: Value, height: int) -> pl.Series:
    """A truth value as a Boolean Series."""
    return value if isinstance(value, pl.Series) else pl.repeat(value, height, eager=True, dtype=pl.Boolean)


def kleene(word: str, left: Value, right: Value, height: int) -> Value:
    """Three-valued and/or; scalars stay scalars."""
    strong = word == "or"
    if not isinstance(left, pl.Series) and not isinstance(right, pl.Series):
        if strong in (left, right):
            return strong
        return None if None in (left, right) else not strong
    first, second = truth(left, height), truth(right, height)
    return (first | second) if strong else (first & second)


def logic(word: str, parts: Sequence[Node]) -> Node:
    """`and` or `or` of several."""

    def apply(height: int, *values: Value) -> Value:
        result = values[0]
        for value in values[1:]:
            result = kleene(word, result, value, height)
        return result

    return Elementwise(f"({f' {word} '.join(part.key for part in parts)})", parts, apply, "truth", rows=True)


def negation(part: Node) -> Node:
    """`not`."""

    def apply(value: Value) -> Value:
        if value is None:
            return None
        return ~value if isinstance(value, pl.Series) else not value

    return Elementwise(f"(not {part.key})", (part,), apply, "truth")


def minus(part: Node) -> Node:
    """Unary minus."""
    return folded(Elementwise(f"(-{part.key})", (part,), lambda v: None if v is None else -v))


def choice(test: Node, yes: Node, no: Node) -> Node:
    """`yes if test else no`; unknown where the test is."""
    kind = yes.kind if yes.kind == no.kind else "number"
    dtype = pl.Boolean if kind == "truth" else pl.Float64

    def apply(height: int, when: Value, one: Value, other: Value) -> Value:
        if not isinstance(when, pl.Series):
            return None if when is None else (one if when else other)
        filled = [
            v if isinstance(v, pl.Series) else pl.repeat(v, height, eager=True, dtype=dtype) for v in (one, other)
        ]
        picked = filled[0].zip_with(when.fill_null(False), filled[1])
        return picked.set(when.is_null(), None)

    key = f"({yes.key} if {test.key} else {no.key})"
    return Elementwise(key, (test, yes, no), apply, kind, rows=True)


def folded(node: Node) -> Node:
    """A constant in place of an operation on constants."""
    if not isinstance(node, Elementwise) or node.rows or not node.children:
        return node
    values = [child.value for child in node.children if isinstance(child, Constant)]
    return Constant(node.fn(*values)) if len(values) == len(node.children) else node
