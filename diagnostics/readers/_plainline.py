"""The items of a metric line that is printed plainly: found in one pass over the line."""

from __future__ import annotations

import re

_ITEM = re.compile(r" - ([^\s:,]{1,300}):(-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?)(?= - |$)")
_DASH_AND_COLON = len(" - :")

Items = list[tuple[str, float, str]]  # key, value, value as it was spelled
Places = list[tuple[bool, int | None]]  # of each value: whether it is a number, its digits after the point


def plain_items(body: str) -> tuple[Items, Places] | None:
    """What ` - a/b:0.250 - c:3` holds; None where anything in it is not a bare key with a bare number."""
    found = _ITEM.findall(body)
    covered = sum([len(key) + len(raw) for key, raw, _, _ in found]) + _DASH_AND_COLON * len(found)
    if covered != len(body):
        return None
    digits = [len(point) - 1 if len(point) > 1 and not exponent else None for _, _, point, exponent in found]
    return [(key, float(raw), raw) for key, raw, _, _ in found], [(True, places) for places in digits]


def spelled_alike(one: Items, other: Items) -> bool:
    """Whether two lines have the same keys with the same values as they were written."""
    return [(key, raw) for key, _, raw in one] == [(key, raw) for key, _, raw in other]
