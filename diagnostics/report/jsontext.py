"""JSON of whatever a run holds: no number and no text ends a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from klinic.diagnostics.run import bounded

OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE


def written(document: Any) -> str:
    """A document as indented JSON: what is not finite as null, whole numbers beyond 64 bits as floats.

    A line break ends it. What JSON has no word for is written as its text.
    """
    try:
        return orjson.dumps(document, default=str, option=OPTIONS).decode()
    except TypeError:  # numbers beyond 64 bits and lone surrogates, which are rare: only then all is looked at
        return orjson.dumps(_sound(document), default=str, option=OPTIONS).decode()


def _sound(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_sound(key): _sound(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(one) for one in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else bounded(value)
