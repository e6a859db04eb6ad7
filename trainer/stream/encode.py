"""Turn metrics, events and samples into lines of JSON, one line a record, non-finite numbers named apart."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import orjson

_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE


def word(number: float) -> str:
    """The word for a non-finite number: nan, inf or -inf."""
    if math.isnan(number):
        return "nan"
    return "inf" if number > 0 else "-inf"


def nonfinite(data: Mapping[str, Any]) -> dict[str, str]:
    """Names and words of the scalar values that are no finite numbers; text and lists are passed over."""
    found = {}
    for name, value in data.items():
        if type(value) is float:
            number = value
        elif isinstance(value, bool | int | str) or value is None:
            continue
        else:
            try:
                number = float(value)
            except (TypeError, ValueError):
                continue
        if not math.isfinite(number):
            found[name] = word(number)
    return found


def _fallback(value: Any) -> Any:
    """What orjson does not know: tensors and numpy's odd types by their Python value, the rest as text."""
    for method in ("item", "tolist"):
        try:
            return getattr(value, method)()
        except (AttributeError, TypeError, ValueError, RuntimeError):
            continue
    return str(value)


def _plain(value: Any) -> Any:
    """The value in types that the standard library writes, non-finite numbers as None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int) or value is None else _plain(_fallback(value))


def dumps(record: Mapping[str, Any]) -> bytes:
    """One line of UTF-8 JSON with its newline; a value that JSON cannot hold is written as text or null."""
    try:
        return orjson.dumps(record, default=_fallback, option=_OPTIONS)
    except TypeError:  # lone surrogates, integers over 64 bits: slower, but nothing is lost
        return json.dumps(_plain(record), ensure_ascii=True, allow_nan=False).encode() + b"\n"


def indented(document: Mapping[str, Any]) -> bytes:
    """The same as a text of several lines; what JSON does not know is written as its text."""
    try:
        return orjson.dumps(document, default=str, option=_OPTIONS | orjson.OPT_INDENT_2)
    except TypeError:
        return json.dumps(_plain(document), indent=2, allow_nan=False).encode() + b"\n"


def step_line(step: int, data: Mapping[str, Any], time: float) -> bytes:
    """A line of metrics.jsonl: step, time (seconds since the epoch), data, and "nonfinite" where there is any."""
    record: dict[str, Any] = {"step": int(step), "time": round(time, 3), "data": data}
    if words := nonfinite(data):
        record["nonfinite"] = words
        record["data"] = {**data, **dict.fromkeys(words)}
    return dumps(record)
