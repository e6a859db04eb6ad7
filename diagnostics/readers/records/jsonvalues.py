"""Numbers, steps and words in JSON records."""

from __future__ import annotations

import math
from typing import Any


def whole(digits: str) -> int | float:
    """An integer; a float where it has more digits than Python converts."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def number(value: Any) -> float | None:
    """A metric's value: numbers and booleans as they are, words for numbers as numbers; ValueError for others."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return float(value)
    raise ValueError(f"{type(value).__name__} is no number")


def word_of(word: Any) -> float:
    """A value that JSON has no number for, spelled out; NaN where it is none."""
    try:
        return float(word)
    except (TypeError, ValueError):
        return math.nan


def is_number(value: Any) -> bool:
    """Whether it is a number; true and false are none here."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def step_of(value: Any) -> int | None:
    """The step that a value says, `3/10` included; None where it says none."""
    if isinstance(value, str):
        value = value.split("/")[0]
        value = int(value) if value.strip().isdecimal() else None
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value) if is_number(value) and abs(value) < 2**62 else None
