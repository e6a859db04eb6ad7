"""Values row by row: functions of one number, the first known of several, the smallest and the largest."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from itertools import accumulate

import numpy as np

from klinic.diagnostics.signals.block import Floats
from klinic.diagnostics.signals.node import Constant, Elementwise, Node
from klinic.diagnostics.signals.operators import finite, folded
from klinic.diagnostics.signals.registry import Any_, Default, Num, signal
from klinic.diagnostics.signals.stream import Value


def _elementwise(name: str, x: Node, array: Callable[[Floats], Floats], scalar: Callable[[float], float]) -> Node:
    def apply(value: Value) -> Value:
        if value is None or isinstance(value, np.ndarray):
            return None if value is None else finite(array(value))
        try:
            return finite(scalar(value))
        except (ValueError, OverflowError):
            return None

    return folded(Elementwise(f"{name}({x.key})", (x,), apply))


def _log(value: float) -> float:
    """numpy's logarithm, which may differ from math's in the last bit: one row gives what many rows give."""
    return float(np.log(value)) if value > 0 else math.nan


def _exp(value: float) -> float:
    """numpy's exponential."""
    with np.errstate(over="ignore"):
        return float(np.exp(value))


@signal
def abs_(x: Num) -> Node:
    """Absolute value."""
    return _elementwise("abs", x, np.abs, abs)


@signal
def log(x: Num) -> Node:
    """Natural logarithm; unknown for zero or less."""
    return _elementwise("log", x, np.log, _log)


@signal
def sqrt(x: Num) -> Node:
    """Square root; unknown below zero."""
    return _elementwise("sqrt", x, np.sqrt, math.sqrt)


@signal
def exp(x: Num) -> Node:
    """Exponential."""
    return _elementwise("exp", x, np.exp, _exp)


def _first_known(result: Value, value: Value, still: bool) -> Value:
    """still: the first one is the same at all rows; else a text, which no array holds, cannot stand in for it."""
    if result is None:
        return value if still or not isinstance(value, str) else None
    if isinstance(result, np.ndarray) and value is not None and not isinstance(value, str):
        return np.where(np.isnan(result), value, result)
    return result


@signal
def coalesce(*x: Any_) -> Node:
    """The first one known."""
    if not x:
        raise ValueError("coalesce wants at least one argument")
    still = list(accumulate((node.still for node in x), operator.and_))

    def one(*values: Value) -> Value:
        for place, value in enumerate(values):
            if value is not None and (place == 0 or still[place - 1] or not isinstance(value, str)):
                return value
        return None

    def apply(result: Value, *values: Value) -> Value:
        for value, steady in zip(values, still, strict=False):
            result = _first_known(result, value, steady)
        return result

    return Elementwise(f"coalesce({', '.join(p.key for p in x)})", x, apply, x[0].kind, one)


@signal
def fill(x: Any_, default: Default) -> Node:
    """The default where unknown."""
    return coalesce(x, Constant(float(default) if type(default) is int else default))


def _extreme(name: str, x: tuple[Node, ...]) -> Node:
    if not x:
        raise ValueError(f"{name} wants at least one argument")
    pick, among = (np.fmin, min) if name == "lowest" else (np.fmax, max)

    def apply(*values: Value) -> Value:
        known = [value for value in values if value is not None]
        if any(isinstance(value, np.ndarray) for value in known):
            return reduce(pick, known) + 0.0  # numpy takes either of -0.0 and 0.0, by the array's length
        return among(known) + 0.0 if known else None

    def one(*values: Value) -> Value:
        known = [value for value in values if value is not None]
        return among(known) + 0.0 if known else None

    return folded(Elementwise(f"{name}({', '.join(p.key for p in x)})", x, apply, one=one))


@signal
def lowest(*x: Num) -> Node:
    """Smallest of the known ones."""
    return _extreme("lowest", x)


@signal
def highest(*x: Num) -> Node:
    """Largest of the known ones."""
    return _extreme("highest", x)
