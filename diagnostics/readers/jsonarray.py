"""A JSON array of rows, flat or nested, on one line or pretty-printed: read as they come, one row an object."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Any

from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.readers.jsonl import parse, row_of
from klinic.diagnostics.readers.rl import framework_of, why_not_rl
from klinic.diagnostics.run.events import Event, Meta, Note, Row

_BEGINS = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*\[\s*\{\s*[\"}]")
_BETWEEN = re.compile(r"[\s,\[]*")
_DECODER = JSONDecoder()
SNIFFED = 5


class JsonArray:
    """One array being read: it is written as a whole, so its rows are reported when it ends."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[Event]:
        """Collect."""
        self._data += data
        return iter(())

    def close(self) -> Iterator[Event]:
        """Report the rows; of a cut or damaged array, those before the damage."""
        records, whole = _records(bytes(self._data))
        rows = [row for number, record in enumerate(records, 1) if (row := _row(record, number)) is not None]
        names = dict.fromkeys(name for row in rows for name in row.values)
        if not whole:
            yield Note(f"the array is cut short or damaged; the {len(records)} whole objects before that were read")
        yield Meta(framework=framework_of(names), not_rl=why_not_rl(names))
        yield from rows


def _row(record: Any, number: int) -> Row | None:
    return row_of(record, number) if isinstance(record, dict) else None


def _records(data: bytes) -> tuple[list[Any], bool]:
    """(the array's items, whether it is whole)."""
    try:
        items = parse(data.removeprefix(b"\xef\xbb\xbf"))
        return (items, True) if isinstance(items, list) else ([], False)
    except ValueError:
        return list(_before_damage(data.decode("utf-8-sig", "replace"))), False


def _before_damage(text: str) -> Iterator[Any]:
    at = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    while at < len(text):
        try:
            record, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield record
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]


class JsonArrayReader:
    """See the module."""

    name = "json-array"
    summary = "a JSON array of rows, flat or nested, pretty-printed or not"

    def sniff(self, head: Head) -> float:
        """Sure where the first objects of an array hold numbers."""
        if not _BEGINS.match(head.data):
            return 0.0
        records = _before_damage(head.data.decode("utf-8-sig", "replace"))
        found = [_row(record, 1) for record, _ in zip(records, range(SNIFFED), strict=False)]
        return 0.9 if any(found) else 0.0

    def open(self, head: Head) -> JsonArray:
        """Start at the first byte."""
        return JsonArray()


READER = JsonArrayReader()
