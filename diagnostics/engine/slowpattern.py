"""Patterns of cards that could take exponential time on one line: refused when a card is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_MANY = 16  # repeats from which on the ways to part a text become too many


def _parse(pattern: str) -> Any:
    from re import _constants, _parser  # type: ignore[attr-defined]

    return _parser.parse(pattern), _constants


def nested_repeat(pattern: str) -> bool:
    """Whether a repeat stands in a repeat with nothing beside it that must be there: `(a+)+`, `(\\s*x?)*`.

    A text can then be parted between the two in as many ways as it is long, to the power of its length. What parts
    them, as the blank in `(\\w+ )+`, makes the pattern harmless. Raises re.error for what is no pattern.
    """
    re.compile(pattern)
    tree, kinds = _parse(pattern)
    return any(_is_nested(body, kinds) for body in _repeated(tree, kinds))


def _repeated(tree: Any, kinds: Any) -> Iterator[Any]:
    """The bodies of all repeats that have no small limit."""
    for kind, value in tree:
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT) and value[1] > _MANY:
            yield value[2]
        for part in _parts(kind, value, kinds):
            yield from _repeated(part, kinds)


def _parts(kind: Any, value: Any, kinds: Any) -> list[Any]:
    """The patterns inside one item of a pattern."""
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is kinds.BRANCH:
        return list(value[1])
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is kinds.ATOMIC_GROUP else []


def _is_nested(body: Any, kinds: Any) -> bool:
    """Whether some way through a repeat's body is another repeat and, beside it, nothing that must be there."""
    for place, (kind, value) in enumerate(body):
        others = [body[at : at + 1] for at in range(len(body)) if at != place]
        if any(other.getwidth()[0] for other in others):
            continue
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT) and value[1] > _MANY:
            return True
        groups = (kinds.SUBPATTERN, kinds.BRANCH, kinds.MAX_REPEAT, kinds.MIN_REPEAT)
        if kind in groups and any(_is_nested(part, kinds) for part in _parts(kind, value, kinds)):
            return True
    return False
