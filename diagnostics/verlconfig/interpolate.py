"""Follow OmegaConf interpolations (`${a.b}`, `${.sibling}`, `${oc.select:a.b,default}`) without OmegaConf."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None, "[]": [], "{}": {}, "": None}
_MAX_DEPTH = 8


def resolve(value: Any, key: str, values: Mapping[str, Any], depth: int = 0) -> Any:
    """`value` of `key` with references into `values` (flat, dotted) followed.

    What cannot be followed stays as written; `oc.select` without a target gives its default or None.
    """
    if not isinstance(value, str) or "${" not in value or depth > _MAX_DEPTH:
        return value
    start = value.index("${")
    end = _closing(value, start)
    if end is None:
        return value
    found = _reference(value[start + 2 : end], key, values, depth + 1)
    if start == 0 and end == len(value) - 1:
        return found
    rest = resolve(value[end + 1 :], key, values, depth)
    return f"{value[:start]}{found}{rest}"


def _closing(text: str, start: int) -> int | None:
    level = 0
    for place in range(start, len(text)):
        level += {"{": 1, "}": -1}.get(text[place], 0)
        if level == 0 and text[place] == "}":
            return place
    return None


def _reference(body: str, key: str, values: Mapping[str, Any], depth: int) -> Any:
    selects = body.startswith("oc.select:")
    target, comma, fallback = body.removeprefix("oc.select:").partition(",")
    name = _absolute(target.strip(), key)
    if name in values and values[name] != "???":
        return resolve(values[name], name, values, depth)
    if not selects:
        return values.get(name, f"${{{body}}}")
    return _literal(fallback.strip(), key, values, depth) if comma else None


def _absolute(target: str, key: str) -> str:
    name = target.lstrip(".")
    up = len(target) - len(name)
    return ".".join([*key.split(".")[:-up], name]) if up else name


def _literal(text: str, key: str, values: Mapping[str, Any], depth: int) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for cast in (int, float):
        try:
            return cast(text)
        except ValueError:
            continue
    return resolve(text, key, values, depth)
