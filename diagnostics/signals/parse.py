"""Check an expression's text against the whitelist; errors carry a column and the nearest known word."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

MAX_LENGTH = 4000
MAX_NODES = 400
MAX_DEPTH = 40

_ALLOWED = frozenset((
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.BinOp, ast.Add,
    ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.Pow, ast.Compare, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
    ast.In, ast.NotIn, ast.IfExp, ast.Call, ast.keyword, ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple,
))  # fmt: skip
_WORDS: dict[type[ast.AST], str] = {
    ast.Attribute: "attributes (`.name`) are not part of the language",
    ast.Subscript: "`[...]` after a value is for requirements only; write e.g. med('metric', 5)",
    ast.Lambda: "lambda is not part of the language",
    ast.Is: "compare with == instead of `is`",
    ast.IsNot: "compare with != instead of `is not`",
    ast.FloorDiv: "// is not part of the language",
}


class ExpressionError(ValueError):
    """What is wrong with an expression. line and column count from 1, within the expression's own text."""

    def __init__(self, message: str, column: int = 1, line: int = 1, hint: str = "") -> None:
        super().__init__(f"{message}{f'; did you mean {hint!r}?' if hint else ''}")
        self.plain = message
        self.column = column
        self.line = line
        self.hint = hint

    @property
    def message(self) -> str:
        """The message without its place."""
        return str(self)


def fail(node: ast.AST, message: str, hint: str = "") -> ExpressionError:
    """An error at a node's place."""
    return ExpressionError(message, getattr(node, "col_offset", 0) + 1, getattr(node, "lineno", 1), hint)


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """The checked syntax tree of an expression, which may run over several lines; it is shared, copy it to change it.

    Raises ExpressionError for bad syntax, for anything outside the whitelist and for oversized expressions.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"longer than {MAX_LENGTH} characters", MAX_LENGTH)
    flat = _LINE_ENDS.sub(" ", text)
    lead = len(flat) - len(flat.lstrip())
    tree = _syntax_tree(flat.strip(), text, lead)
    if lead or flat != text or not text.isascii():
        _set_places(tree, flat.strip(), text, lead)
    _check(tree)
    spelled = any(word in text for word in _LITERALS)
    body: ast.expr = _Spelled().visit(tree.body) if spelled else tree.body
    return body


def _set_places(tree: ast.Expression, parsed: str, text: str, lead: int) -> None:
    """Lines and columns of the text as it was given: Python counts bytes of the one line that was parsed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.keyword):
            characters = len(parsed.encode()[: node.col_offset].decode("utf-8", "ignore"))
            node.lineno, column = _place(text, lead + characters)
            node.col_offset = column - 1


_LINE_ENDS = re.compile(r"[\r\n\f]")


def _place(text: str, at: int) -> tuple[int, int]:
    """Line and column, from 1, of a position in the text."""
    before = text[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1


def _syntax_tree(flat: str, text: str, lead: int) -> ast.Expression:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own remarks on odd literals
            return ast.parse(flat or "#", mode="eval")
    except SyntaxError as error:
        early = not error.offset
        line, column = _place(text, lead + (len(flat) if early else (error.offset or 1) - 1))
        reason = ("it ends too early" if flat else "empty") if early else f"not an expression: {error.msg}"
        raise ExpressionError(reason, column, line) from None
    except (ValueError, MemoryError, RecursionError):
        raise ExpressionError("not an expression: too deeply nested or not text") from None


_LITERALS = {"true": True, "false": False, "null": None}


class _Spelled(ast.NodeTransformer):
    """`true`, `false` and `null` as YAML and Hydra spell them."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A constant in the name's place."""
        return ast.copy_location(ast.Constant(_LITERALS[node.id]), node) if node.id in _LITERALS else node


def _check(tree: ast.Expression) -> None:
    pending: list[tuple[ast.AST, int]] = [(tree, 0)]
    seen = 0
    while pending:
        node, depth = pending.pop()
        seen += 1
        if seen > MAX_NODES * 3 or depth > MAX_DEPTH:
            raise fail(node, f"too large: at most {MAX_NODES} operations, nested {MAX_DEPTH} deep")
        _check_one(node)
        pending += [(child, depth + 1) for child in _children(node)]


def _children(node: ast.AST) -> list[ast.AST]:
    """What `ast.iter_child_nodes` gives, without its generators: thousands of nodes are checked at the start."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += value
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def _check_one(node: ast.AST) -> None:
    if type(node) not in _ALLOWED:
        word = _WORDS.get(type(node), f"{type(node).__name__} is not part of the language")
        raise fail(node, word)
    if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
        raise fail(node, "only signals can be called")
    if isinstance(node, ast.Constant) and not isinstance(node.value, int | float | str | bool | None):
        raise fail(node, f"{node.value!r} is not a number, truth value or text")
