"""Tables as one JSON object of columns, as `DataFrame.to_json`, `to_dict` and `orient="split"` write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.records.jsonrows import STEP_KEYS, TIME_KEYS, parse
from klinic.diagnostics.readers.records.jsonvalues import is_number, number, step_of
from klinic.diagnostics.readers.records.metricnames import framework_of, why_not_rl
from klinic.diagnostics.readers.records.wholefile import Whole
from klinic.diagnostics.run.events import Event, Meta, Note, Row

_NAME, _VALUE = rb'"(?:[^"\\]|\\.){1,300}"', rb'(?:-?[\d.]+(?:[eE][-+]?\d+)?|null|NaN|-?Infinity|"[^"\\]{0,300}")'
# The first column has two values at least: numbers from 0 on as names of the rows, or a list.
_BEGINS = re.compile(
    rb"\s*\{\s*" + _NAME + rb'\s*:\s*(?:\{\s*"0"\s*:\s*' + _VALUE + rb'\s*,\s*"1"\s*:|\[\s*' + _VALUE + rb"\s*,)"
)
Columns = dict[str, list[Any]]


class JsonColumns(Whole):
    """One file being read: it is written as a whole, so its rows are reported when it ends."""

    def close(self) -> Iterator[Event]:
        """Report the rows; a cut file holds no whole column."""
        try:
            columns = columns_of(parse(bytes(self._data)))
        except ValueError:
            yield Note("the file is cut short or damaged, and its rows stand column by column; nothing was read")
            return
        steps = next((columns[key] for key in STEP_KEYS if key in columns), [])
        times = next((columns[key] for key in TIME_KEYS if key in columns), [])
        metrics = {key: values for key, values in columns.items() if key not in (*STEP_KEYS, *TIME_KEYS)}
        yield Meta(framework=framework_of(metrics), not_rl=why_not_rl(metrics))
        for at in range(max(map(len, columns.values()), default=0)):
            row = dict(_values(metrics, at))
            time = times[at] if at < len(times) else None
            if row:
                step = step_of(steps[at]) if at < len(steps) else None
                yield Row(row, step, float(time) if time is not None and is_number(time) else None)


def columns_of(table: Any) -> Columns:
    """Columns by name; empty where it is no table."""
    if not isinstance(table, dict):
        return {}
    if {"columns", "data"} <= table.keys():
        names, rows = table["columns"], table["data"]
        if not (isinstance(names, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows)):
            return {}
        return {str(name): [row[at] if at < len(row) else None for row in rows] for at, name in enumerate(names)}
    named = {key: list(value.values()) if isinstance(value, dict) else value for key, value in table.items()}
    return {key: value for key, value in named.items() if isinstance(value, list)}


def _values(metrics: Columns, at: int) -> Iterator[tuple[str, float | None]]:
    for key, values in metrics.items():
        if at < len(values) and values[at] is not None:
            try:
                yield key, number(values[at])
            except ValueError:
                continue


def _sniff(head: Head) -> float:
    """Sure where the first column begins with two values; a row of metrics that holds a list ends on its line."""
    lone = head.data.count(b"\n{") == 0
    return 0.985 if lone and _BEGINS.match(head.data) else 0.0


READER = Format(
    "json-columns",
    "a JSON object of columns, as pandas writes tables (columns, lists, split)",
    sniff=_sniff,
    open=lambda _: JsonColumns(),
)
