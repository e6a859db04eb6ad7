"""Values in overrides, as Hydra reads them."""

from __future__ import annotations

import re
from typing import Any

_INT = re.compile(r"[-+]?\d[\d_]*")
_FLOAT = re.compile(r"[-+]?((\d[\d_]*)?\.\d+|\d[\d_]*\.?)([eE][-+]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}
_SPECIAL = {"inf", "+inf", "-inf", "nan"}


def parsed(value: Any) -> Any:
    """An override's text as a value: `1e-6` a number, `True` a truth value, `[a,b]` a list, `{a:1}` a mapping."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) or text.lower() in _SPECIAL:
        return float(text)
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1]
    if text[:1] == "[" and text[-1:] == "]":
        return [parsed(part) for part in parts_of(text[1:-1])]
    return _mapping(text) if text[:1] == "{" and text[-1:] == "}" else text


def _mapping(text: str) -> dict[str, Any]:
    pairs = (part.partition(":") for part in parts_of(text[1:-1]))
    return {str(parsed(key)): parsed(value) for key, _, value in pairs}


def parts_of(inside: str) -> list[str]:
    """Split at commas outside of quotes and brackets."""
    parts, start, depth, quote = [], 0, 0, ""
    for place, char in enumerate(inside):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "[{(":
            depth += 1
        elif char in ")}]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(inside[start:place])
            start = place + 1
    return [part for part in (*parts, inside[start:]) if part.strip()]
