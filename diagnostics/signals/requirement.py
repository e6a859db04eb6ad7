"""Requirements typed by a person: bare metric names with `[-k:]` and `.mean()`, translated into the grammar."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from klinic.diagnostics.signals.compile import compile_text, compile_tree
from klinic.diagnostics.signals.node import Node
from klinic.diagnostics.signals.parse import ExpressionError, parse
from klinic.diagnostics.signals.registry import signals
from klinic.diagnostics.signals.scope import BARE, Scope
from klinic.diagnostics.suggest import closest

SAID = {"avg": "mean", "average": "mean", "minimum": "min", "maximum": "max", "med": "median", "latest": "last"}
METHODS = {"mean": "mean", "min": "min", "max": "max", "median": "med", "last": "last", "sum": "sum", "std": "std"}
_WORDS = {"and", "or", "not", "in", "if", "else", "True", "False", "None", "true", "false", "null", "run", "it"}
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w/])")
_PART = r"(?:\*|[\w@:]+(?:[-.][\w@:]+)*)"
_NAME = re.compile(rf"[A-Za-z_]\w*(?:[-.][\w-]+)*(?:/{_PART})+|[A-Za-z_]\w*")
_WINDOW = re.compile(r"\s*\[\s*-\s*(\d+)\s*:\s*\]")
_METHOD = re.compile(r"\s*\.\s*([A-Za-z_]\w*)\s*\(\s*\)")


@dataclass(frozen=True)
class Requirement:
    """A requirement that must hold.

    text: as typed. expression: in the grammar of cards. node: its truth. left, op, right: the sides where it is one
    comparison of numbers, else None, "", None.
    """

    text: str
    expression: str
    node: Node
    left: Node | None = None
    op: str = ""
    right: Node | None = None


def parse_requirement(text: str) -> Requirement:
    """`critic/score/mean[-10:].mean() >= 0.6` -> a requirement. Quoted names and every signal work as in cards.

    Raises ExpressionError with the column in `text` and the nearest known word.
    """
    pieces = list(_translated(" ".join(text.splitlines())))
    expression = "".join(new for _, new in pieces)
    try:
        node = compile_text(expression, Scope(), "truth")
        tree = parse(expression)
    except ExpressionError as error:
        column = _typed_column(pieces, error.column, len(text) + 1)
        raise ExpressionError(error.plain, column, hint=error.hint) from None
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
        sides = [compile_tree(side, Scope()) for side in (tree.left, tree.comparators[0])]
        if all(side.kind == "number" for side in sides):
            return Requirement(text, expression, node, sides[0], _OPS[type(tree.ops[0])], sides[1])
    return Requirement(text, expression, node)


def _meant(method: str) -> str:
    """The method that was meant: by what others call it, else by its spelling."""
    return SAID.get(method.lower()) or closest(method.lower(), METHODS)


_OPS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def _typed_column(pieces: list[tuple[int, str]], column: int, end: int) -> int:
    """Column in the text as typed, from one in the translation."""
    at = 0
    for start, new in pieces:
        if at + len(new) >= column:
            return start + 1 + (column - 1 - at if len(new) == 1 else 0)
        at += len(new)
    return end


def _translated(text: str) -> Iterator[tuple[int, str]]:
    """(column from 0, translated piece); pieces that stay as they are come character by character."""
    at = 0
    while at < len(text):
        found = _QUOTED.match(text, at) or _NUMBER.match(text, at)
        if found:
            yield at, found[0]
        else:
            name = _NAME.match(text, at)
            if not name:
                yield at, text[at]
                at += 1
                continue
            at_end, new = _name(text, name)
            yield at, new
            at = at_end
            continue
        at = found.end()


def _name(text: str, found: re.Match[str]) -> tuple[int, str]:
    """End of a name with its window and method, and what it becomes."""
    name, end = found[0], found.end()
    if _is_word(name, text, end):
        return end, name
    called = text[end:].lstrip().startswith("(")
    stem, dot, _ = name.rpartition(".")
    if dot and called and "/" in name:  # the method was swallowed by the name's last part
        name, end = stem, found.start() + len(stem)
    elif called and "/" not in name:
        return end, name  # a signal, or a word that the parser will complain about
    return _applied(text, name, end)


def _is_word(name: str, text: str, end: int) -> bool:
    if name in _WORDS or name in BARE:
        return True
    keyword = re.match(r"\s*=(?!=)", text[end:]) is not None  # `k=3` inside a call
    return keyword or (name in signals() and text[end:].lstrip().startswith("("))


def _applied(text: str, name: str, end: int) -> tuple[int, str]:
    window = _WINDOW.match(text, end)
    if window is None and text[end:].lstrip().startswith("["):
        raise ExpressionError(f"the last 10 values are written {name}[-10:].mean()", end + 1)
    after = window.end() if window else end
    method = _METHOD.match(text, after)
    if not method:
        if window:
            raise ExpressionError(f"a window wants a method: {name}[-{window[1]}:].mean()", end + 1)
        return end, repr(name)
    return method.end(), _call(name, method[1], window[1] if window else "run", method.start(1) + 1)


def _call(name: str, method: str, window: str, column: int) -> str:
    signal = METHODS.get(method)
    if signal is None:
        known = ", ".join(f".{one}()" for one in METHODS)
        raise ExpressionError(f"unknown method {method!r} (there are {known})", column, hint=_meant(method))
    return f"last({name!r})" if signal == "last" else f"{signal}({name!r}, {window})"
