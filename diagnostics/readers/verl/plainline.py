"""The items of a metric line that is printed plainly: found in one pass over the line."""

from __future__ import annotations

import re

_NUMBER = r"(-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?)"
_ITEM = re.compile(rf" - ([^\s:,]{{1,300}}):((np\.float(?:64|32)\()?{_NUMBER}(?(3)\)))(?= - |$)")
_DASH_AND_COLON = len(" - :")

Items = list[tuple[str, float, str]]  # key, value, value as it was spelled
Places = list[tuple[bool, int | None]]  # of each value: whether it is a number, its digits after the point


def plain_items(body: str) -> tuple[Items, Places] | None:
    """What ` - a/b:0.250 - c:np.float64(3.5)` holds; None where anything in it is not a bare key with such a number."""
    found = _ITEM.findall(body)
    covered = sum([len(key) + len(raw) for key, raw, *_ in found]) + _DASH_AND_COLON * len(found)
    if covered != len(body):
        return None
    places = [
        (True, len(point) - 1 if len(point) > 1 and not (exponent or wrapped) else None)
        for _, _, wrapped, _, point, exponent in found
    ]
    return [(key, float(digits), raw) for key, raw, _, digits, _, _ in found], places


def spelled_alike(one: Items, other: Items) -> bool:
    """Whether two lines have the same keys with the same values as they were written."""
    return [(key, raw) for key, _, raw in one] == [(key, raw) for key, _, raw in other]
