"""JSON records as rows: where a record's step, time and numbers stand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from klinic.diagnostics.readers.records.jsonvalues import is_number, number, step_of, whole, word_of
from klinic.diagnostics.run.events import Row

STEP_KEYS = (
    "step",
    "_step",
    "global_step",
    "training/global_step",
    "train/global_step",
    "trainer/global_step",
    "global_step/max_steps",
    "iteration",
    "iter",
)
TIME_KEYS = ("time", "_timestamp", "timestamp", "wall_time")
CONTAINERS = ("data", "metrics", "logs", "log", "values", "scalars")
NOT_METRICS = frozenset({"_wandb", "_runtime", "nonfinite"})


def parse(text: str | bytes) -> Any:
    """A JSON value, NaN and Infinity literals included; ValueError where it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(text, parse_int=whole)  # knows NaN, Infinity and integers beyond 64 bits
    except RecursionError:
        raise ValueError("nested too deep") from None


def row_of(record: Mapping[str, Any], line: int | None = None) -> Row | None:
    """The row that a JSON object holds, or None where it has no number."""
    data = record.get("data")
    if isinstance(data, dict) and "step" in record:
        return _verl_row(record, data, line)
    plain = all(type(value) is float or type(value) is int for value in record.values())
    values = dict(record if plain and not record.keys() & NOT_METRICS else _numbers(record))
    step = next((step_of(record[key]) for key in STEP_KEYS if step_of(record.get(key)) is not None), None)
    time = next((float(record[key]) for key in TIME_KEYS if is_number(record.get(key))), None)
    for key in (*TIME_KEYS, "step", "_step"):
        values.pop(key, None)
    return Row(values, step, time, line=line) if values else None


def _verl_row(record: Mapping[str, Any], data: dict[str, Any], line: int | None) -> Row | None:
    step = step_of(record["step"])
    if step is None and isinstance(record["step"], str):
        return None
    time = record.get("time")
    words = record.get("nonfinite")
    if isinstance(words, dict):
        data = {**data, **{key: word_of(word) for key, word in words.items()}}
    if not all(type(value) is float or type(value) is int for value in data.values()):
        data = dict(_numbers(data))
    if not data:
        return None
    return Row(data, step, float(time) if is_number(time) else None, line=line, nulls_are_nan=True)  # type: ignore[arg-type]


def _numbers(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float | None]]:
    for key, value in tree.items():
        if key in NOT_METRICS:
            continue
        if isinstance(value, dict):
            yield from _numbers(value, prefix if not prefix and key in CONTAINERS else f"{prefix}{key}/")
            continue
        try:
            yield f"{prefix}{key}", number(value)
        except ValueError:
            continue
