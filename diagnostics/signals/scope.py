"""What an expression may refer to, and what kind of value it must have where it stands."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from klinic.diagnostics.signals import operators
from klinic.diagnostics.signals.node import Constant, Node
from klinic.diagnostics.signals.parse import fail


@dataclass(frozen=True)
class Scope:
    """Names that an expression may use besides signals.

    thresholds: name -> number. lets: name -> expression text (may use thresholds and earlier lets).
    it: the metric that `it` stands for inside any_of, all_of and outcome templates.
    used: collects the names that were looked up. made: nodes of lets, by name and `it`: many ask for the same one.
    """

    thresholds: Mapping[str, Any] = field(default_factory=dict)
    lets: Mapping[str, str] = field(default_factory=dict)
    it: str | None = None
    used: set[str] = field(default_factory=set)
    made: dict[tuple[str, str | None], Node] = field(default_factory=dict)

    def known(self) -> list[str]:
        """Every name that is defined here."""
        return [*self.thresholds, *self.lets, *(["it"] if self.it else []), *BARE]


# Signals without arguments that are written without parentheses.
BARE = ("U", "n", "algorithm", "framework")


def demand(tree: ast.AST, node: Node, kind: str) -> Node:
    """The node, if it is of the kind wanted (unknown constants pass)."""
    if node.kind == kind or (isinstance(node, Constant) and node.value is None):
        return node
    if node.kind == "scalar":
        return operators.settled(node, kind)
    words = {"truth": "a comparison", "number": "a number or a metric in quotes", "text": "a text"}
    raise fail(tree, f"`{ast.unparse(tree)}` is not {words.get(kind, kind)}")


def literals(tree: ast.expr) -> list[Any]:
    """Values of a list of constants."""
    if not isinstance(tree, ast.List | ast.Tuple):
        raise fail(tree, "`in` wants a list such as ['gae', 'grpo']")
    return [literal(part) for part in tree.elts]


def literal(tree: ast.expr) -> Any:
    """Value of a constant (a minus sign before a number included)."""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -literal(tree.operand)
    if not isinstance(tree, ast.Constant):
        raise fail(tree, f"`{ast.unparse(tree)}` is not a constant")
    return tree.value
