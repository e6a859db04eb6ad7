"""Values as written -> numbers, words, truth values; what is none of them is None."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def whole(value: Any) -> int | None:
    """A whole number of at most 64 bits, however it was written."""
    number = real(value)
    return int(number) if number is not None and abs(number) < 2**63 and number == int(number) else None


def real(value: Any) -> float | None:
    """A finite number; a truth value is none."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def word(value: Any) -> str | None:
    """A word; Hydra's `???` stands for none."""
    return value if isinstance(value, str) and value not in ("", "???") else None


def truth(value: Any) -> bool | None:
    """A truth value, as such or in words."""
    spelt = {"true": True, "false": False}.get(str(value).lower())
    return spelt if isinstance(value, bool | str) else None


# By the annotation of a field.
CASTS: Mapping[str, Callable[[Any], Any]] = {
    "int | None": whole,
    "float | None": real,
    "str | None": word,
    "bool | None": truth,
}
