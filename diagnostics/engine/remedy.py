"""The small language of `try.to`: what a config value becomes, computed from the run's own config."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from klinic.diagnostics.engine.divisors import divisors_of


class RemedyError(ValueError):
    """A `to` that the language does not know, or a value that cannot be computed; the message says which."""


@dataclass(frozen=True)
class Drop:
    """The key is to be removed."""


@dataclass(frozen=True)
class Append:
    """`value` is to be added to a list."""

    value: Any


Lookup = Callable[[str], Any]


def _no_signals(text: str) -> Any:
    """The value of any expression where there is no run to look at: unknown."""
    return None


_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}


def evaluate(to: Any, old: Any, lookup: Lookup, *, whole: bool = False, signal: Lookup = _no_signals) -> Any:
    """The new value of a key: a plain value, `Drop()` or `Append(value)`; floats keep one significant digit.

    to: text of the language, or a YAML number or truth value taken as it stands. old: the run's value, None where
    unknown. lookup: dotted key -> the run's value or the framework's default, None where neither is known.
    whole: the key holds whole numbers only. signal: expression of the grammar -> its value at the run's last row.
    Raises RemedyError where a value that is needed is unknown or the text is not of the language.
    """
    if not isinstance(to, str):
        return to
    try:
        tree = ast.parse(to.strip(), mode="eval").body
    except SyntaxError as error:
        raise RemedyError(f"cannot read {to!r}: {error.msg}, column {error.offset}") from None
    try:
        return _rounded(_Remedy(old, lookup, signal).value(tree), tree, old, whole)
    except RemedyError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        raise RemedyError(f"cannot compute {to!r} from {old!r}: {error}") from None


class _Remedy:
    def __init__(self, old: Any, lookup: Lookup, signal: Lookup) -> None:
        self._old = old
        self._lookup = lookup
        self._signal = signal

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id="old"):
                return self._known(self._old, "the key's present value")
            case ast.Name(id="drop"):
                return Drop()
            case ast.Name(id=word) if word in _WORDS:
                return _WORDS[word]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return _ARITHMETIC[type(op)](self.value(left), self.value(right))
            case ast.List(elts=items):
                return [self.value(item) for item in items]
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._call(name, [self.value(arg) for arg in args])
        raise RemedyError(f"{ast.unparse(node)!r} is not of the language of `to`")

    def _call(self, name: str, args: list[Any]) -> Any:
        match name, args:
            case ("min", [_, *_]):
                return min(args)
            case ("max", [_, *_]):
                return max(args)
            case ("append", [value]):
                return Append(value)
            case ("divisor_of", [number]):
                return _divisor(int(number), self._known(self._old, "the key's present value"))
            case ("cfg", [str(key)]):
                return self._known(self._lookup(key), key)
            case ("signal", [str(text)]):
                return self._known(self._signal(text), text)
            case ("sqrt", [int() | float() as number]) if number >= 0:
                return math.sqrt(number)
        raise RemedyError(f"{name}() with {len(args)} argument(s) is not of the language of `to`")

    @staticmethod
    def _known(value: Any, what: str) -> Any:
        if value is None:
            raise RemedyError(f"{what} is unknown")
        return value


def _divisor(number: int, limit: Any) -> int:
    """The largest divisor of `number` that is not above `limit`, at least 1."""
    return max((one for one in divisors_of(max(number, 1)) if one <= limit), default=1)


def _rounded(value: Any, tree: ast.expr, old: Any, whole: bool) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if not math.isfinite(value) or (whole and abs(value) >= 2**63):  # no config holds it
        raise RemedyError(f"{ast.unparse(tree)!r} gives {value}")
    if whole:
        return int(value)
    return value if isinstance(value, int) or value == old or abs(value) in _written(tree) else one_digit(value)


def _written(tree: ast.expr) -> list[Any]:
    """Numbers as the card's author wrote them: they are not rounded, as little as the value that stands there now."""
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]


def one_digit(value: float) -> float:
    """A float with one significant digit: 2.9e-07 -> 3e-07."""
    return float(f"{value:.0e}")
