"""Expressions of the cards' language in words: `med(abs('actor/ppo_kl'), 5)` is a median of the last 5 values."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from klinic.diagnostics.language import Lang as Lang
from klinic.diagnostics.report import signalwords as table
from klinic.diagnostics.report.words import number

LANGS: tuple[Lang, ...] = ("en", "zh")
LONGEST = {"en": 150, "zh": 80}
_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Sub: "-", ast.Add: "+", ast.Mult: "*", ast.Div: "/",
}  # fmt: skip


class TooInvolvedError(ValueError):
    """An expression that words would not make clearer."""


@lru_cache(maxsize=4096)
def in_words(expression: str, lang: Lang = "en") -> str | None:
    """An expression in words; of a single metric `METRIC: median of the last 5 values`. None where it is too involved.

    Names of metrics and settings stand as they are.
    """
    try:
        tree = ast.parse(expression, mode="eval").body
        subject = _subject(tree)
        text = _spaced(_Speaker(lang, subject).noun(tree))
    except (SyntaxError, TooInvolvedError, RecursionError):
        return None
    if subject:
        text = f"{subject}{'：' if lang == 'zh' else ': '}{text}"
    return text if len(text) - len(subject or "") <= LONGEST[lang] else None


@lru_cache(maxsize=4096)
def opens_the_way(expression: str) -> bool:
    """Whether an expression only says how long, since when or whether something was logged."""
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError:
        return False
    tree = tree.operand if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not) else tree
    sides = [tree.left, tree.right] if isinstance(tree, ast.BinOp) else [tree]
    return all(_called(part) in table.GUARDS for part in sides)


@lru_cache(maxsize=512)
def condition(expression: str, lang: Lang = "en") -> str:
    """When a rule judges, in words; the expression itself where it is too involved."""
    try:
        return _spaced(_Speaker(lang).claim(ast.parse(expression, mode="eval").body))
    except (SyntaxError, TooInvolvedError, RecursionError):
        return expression


def side(op: str, lang: Lang = "en") -> str:
    """A comparison in words; the operator itself where there are none."""
    return table.SIDES[op][LANGS.index(lang)] if op in table.SIDES else op


def listing(parts: Sequence[str], lang: Lang = "en") -> str:
    """`a, b and c`."""
    if lang == "zh":
        return "、".join(parts)
    return " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), *parts[-1:]])


def _spaced(text: str) -> str:
    """A space between Chinese and Latin words, as the messages have it."""
    return re.sub(r"(?<=[\w|])(?=[\u4e00-\u9fff])(?<![\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9|])", " ", text)


def _called(tree: ast.expr) -> str:
    """The signal that an expression is, "" for anything else."""
    if isinstance(tree, ast.Name):
        return tree.id
    return tree.func.id if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) else ""


def _is_metric(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and isinstance(tree.value, str)


def _is_size(tree: ast.expr) -> bool:
    """Whether it is a metric's absolute value."""
    return isinstance(tree, ast.Call) and _called(tree) == "abs" and _is_metric(tree.args[0])


def _subject(tree: ast.expr) -> str | None:
    """The one metric that a whole expression is about, so that it need be named once; None where that does not help."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if _is_size(tree) or not calls or any(_called(c) in (*table.CLAIMED, *table.TRUTHS, *table.NAMED) for c in calls):
        return None
    names = {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant) and _is_metric(node)}
    if _called(tree) in ("fill", "last"):
        return _subject(tree.args[0])  # type: ignore[attr-defined]
    return names.pop() if len(names) == 1 and not isinstance(tree, ast.Compare | ast.UnaryOp) else None


class _Speaker:
    """subject: the metric that is spoken of without its name."""

    def __init__(self, lang: Lang, subject: str | None = None) -> None:
        self.lang, self.subject = lang, subject

    def pick(self, both: table.Both, **parts: object) -> str:
        """A text of the table with its gaps filled."""
        return both[LANGS.index(self.lang)].format(**parts)

    def noun(self, tree: ast.expr) -> str:
        """What an expression is called."""
        if isinstance(tree, ast.Constant):
            return self._constant(tree)
        if isinstance(tree, ast.BinOp) and type(tree.op) in _SYMBOLS:
            return self._arithmetic(tree, _SYMBOLS[type(tree.op)])
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return f"-{self.noun(tree.operand)}"
        if isinstance(tree, ast.Compare) or (isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)):
            return self.claim(tree)
        if isinstance(tree, ast.Call | ast.Name):
            return self._signal(tree, _called(tree))
        raise TooInvolvedError

    def claim(self, tree: ast.expr, *, denied: bool = False) -> str:
        """What an expression says is so."""
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
            return self.claim(tree.operand, denied=not denied)
        if isinstance(tree, ast.Call) and _called(tree) == "fill":
            return self.claim(tree.args[0], denied=denied)
        if isinstance(tree, ast.BoolOp) and not denied:
            return self._joined(tree)
        if isinstance(tree, ast.Compare) and isinstance(tree.ops[0], ast.In) and len(tree.ops) == 1:
            return self.pick(table.AMONG[denied], x=self.noun(tree.left), w=self._names(tree.comparators[0]))
        if isinstance(tree, ast.Call) and _called(tree) in table.NAMED:
            return self.pick(table.SWITCHED[denied], x=self.noun(tree))
        if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and type(tree.ops[0]) in _SYMBOLS:
            symbol = _SYMBOLS[type(tree.ops[0])]
            words = side(table.OPPOSITE[symbol] if denied else symbol, self.lang)
            sides = self.noun(tree.left), self.noun(tree.comparators[0])
            return f"{sides[0]}{words}{sides[1]}" if self.lang == "zh" else f"{sides[0]} is {words} {sides[1]}"
        if isinstance(tree, ast.Call) and _called(tree) in table.TRUTHS:
            return self._truth(tree, denied=denied)
        raise TooInvolvedError

    def _joined(self, tree: ast.BoolOp) -> str:
        """Claims that hold together or one by one; in brackets those within another kind."""
        parts = [f"({self.claim(p)})" if isinstance(p, ast.BoolOp) else self.claim(p) for p in tree.values]
        return self.pick(table.JOINED[isinstance(tree.op, ast.Or)]).join(parts)

    def _names(self, tree: ast.expr) -> str:
        if not isinstance(tree, ast.List) or not all(map(_is_metric, tree.elts)):
            raise TooInvolvedError
        return listing([str(one.value) for one in tree.elts if isinstance(one, ast.Constant)], self.lang)

    def _constant(self, tree: ast.Constant) -> str:
        if isinstance(tree.value, str):
            return self.pick(("value", "值")) if tree.value == self.subject else tree.value
        if isinstance(tree.value, bool) or tree.value is None:
            raise TooInvolvedError
        return number(float(tree.value))  # type: ignore[arg-type]  # the language has no other constants

    def _arithmetic(self, tree: ast.BinOp, symbol: str) -> str:
        sides = [self._operand(part, symbol) for part in (tree.left, tree.right)]
        return self.pick(table.ARITHMETIC[symbol], a=sides[0], b=sides[1])

    def _operand(self, tree: ast.expr, symbol: str) -> str:
        """A side of a sum or a quotient: in brackets what would be read on beyond it."""
        while _called(tree) in ("fill", "last"):
            tree = tree.args[0]  # type: ignore[attr-defined]
        sum_ = isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub) and symbol in "*/"
        return f"({self.noun(tree)})" if sum_ or _called(tree) in ("highest", "lowest") else self.noun(tree)

    def _truth(self, tree: ast.Call, *, denied: bool) -> str:
        name, first = _called(tree), tree.args[0] if tree.args else None
        x = first.value if isinstance(first, ast.Constant) else ""
        return self.pick(table.TRUTHS[name][denied], x=x, key=x, w=x)

    def _signal(self, tree: ast.Call | ast.Name, name: str) -> str:
        args = [*tree.args, *(word.value for word in tree.keywords)] if isinstance(tree, ast.Call) else []
        if name in table.BARE:
            return self.pick(table.BARE[name])
        if name in table.TRUTHS:
            return self.claim(tree)
        if name in table.NAMED and isinstance(args[0], ast.Constant):
            return self.pick(table.NAMED[name], key=args[0].value)
        if name in table.CLAIMED:
            window = self.noun(args[1]) if len(args) > 1 else ""
            return self.pick(table.CLAIMED[name], x=_Speaker(self.lang).claim(args[0]), w=window)
        if name in ("fill", "last"):
            return self.noun(args[0])
        if name in ("highest", "lowest"):
            return self._extreme(name, [self.noun(part) for part in args])
        if name == "abs":
            return self._size(args[0])
        if name in table.PLAIN or name in table.WINDOWED:
            return self._of(args[0], self._pattern(name, args))
        raise TooInvolvedError

    def _size(self, tree: ast.expr) -> str:
        if _is_metric(tree) and self.noun(tree) != tree.value:  # type: ignore[attr-defined]
            return self.pick(("absolute value", "绝对值"))
        return f"|{self.noun(tree)}|"

    def _extreme(self, name: str, parts: Sequence[str]) -> str:
        if len(parts) < 2:
            raise TooInvolvedError
        two = len(parts) == 2
        word = {"highest": ("higher", "highest"), "lowest": ("lower", "lowest")}[name][not two]
        zh = {"highest": ("较高者", "最高者"), "lowest": ("较低者", "最低者")}[name][not two]
        if self.lang == "zh":
            return f"{'与'.join(parts) if two else '、'.join(parts)}中的{zh}"
        return f"the {word} of {listing(parts)}"

    def _pattern(self, name: str, args: Sequence[ast.expr]) -> tuple[table.Both, str]:
        """The text of a signal and its window."""
        if name in table.PLAIN:
            return table.PLAIN[name], ""
        if len(args) > 1 and _called(args[1]) == "run":
            return table.SO_FAR[name], ""
        if len(args) < 2 and name not in table.DEFAULT_WINDOW:
            raise TooInvolvedError
        window = self.noun(args[1]) if len(args) > 1 else str(table.DEFAULT_WINDOW[name])
        return (table.OF_ONE[name] if window == "1" and name in table.OF_ONE else table.WINDOWED[name]), window

    def _of(self, tree: ast.expr, pattern: tuple[table.Both, str]) -> str:
        """A signal of something, which the subject need not be named for."""
        both, window = pattern
        values, sizes = ("values", "值"), ("absolute values", "绝对值")
        spoken_of: Any = tree.args[0] if _is_size(tree) else tree  # type: ignore[attr-defined]
        if _is_metric(spoken_of) and spoken_of.value == self.subject:
            return self.pick(both, w=window, v=self.pick(sizes if _is_size(tree) else values))
        noun = self.pick(both, w=window, v=self.pick(values))
        other = self.noun(tree)
        return f"{other}{' ' if other[-1:].isascii() else '的'}{noun}" if self.lang == "zh" else f"{noun} of {other}"
