"""Rows as JSON objects, flat or nested, in an array, or one after the other in any layout: one row an object."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Any

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.records.jsonrows import parse, row_of
from klinic.diagnostics.readers.records.metricnames import framework_of, why_not_rl
from klinic.diagnostics.readers.records.wholefile import Whole
from klinic.diagnostics.run.events import Event, Meta, Note, Row

_BEGINS = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*\[\s*\{\s*[\"}]")
_PRETTY = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*\{\s*\n")
_CLOSE = re.compile(rb"[^\n]*\}[ \t,]*\{[ \t]*\"|\x1e[ \t]*\{")  # without a line end between them, or RFC 7464
_BETWEEN = re.compile(r"[\s,\[\x1e]*")
_DECODER = JSONDecoder()
SNIFFED = 5


class JsonArray(Whole):
    """One file being read: it is written as a whole, so its rows are reported when it ends."""

    def close(self) -> Iterator[Event]:
        """Report the rows; of a cut or damaged array, those before the damage."""
        records, whole = _records(bytes(self._data))
        rows = [row for number, record in enumerate(records, 1) if (row := _row(record, number)) is not None]
        names = dict.fromkeys(name for row in rows for name in row.values)
        if not whole:
            yield Note(f"the file is cut short or damaged; the {len(records)} whole objects before that were read")
        yield Meta(framework=framework_of(names), not_rl=why_not_rl(names))
        yield from rows


def _row(record: Any, number: int) -> Row | None:
    return row_of(record, number) if isinstance(record, dict) else None


def _records(data: bytes) -> tuple[list[Any], bool]:
    """(the objects, whether nothing was left out)."""
    try:
        items = parse(data.removeprefix(b"\xef\xbb\xbf"))
        return (items, True) if isinstance(items, list) else ([items], True)
    except ValueError:
        text = data.decode("utf-8-sig", "replace")
        found = list(_before_damage(text))
        return [record for record, _ in found], bool(found) and not text[found[-1][1] :].strip() and text.lstrip()[
            :1
        ] == "{"


def _before_damage(text: str) -> Iterator[tuple[Any, int]]:
    """(object, where it ends) for each up to the damage."""
    at = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    while at < len(text):
        try:
            record, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield record, at
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]


def _sniff(head: Head) -> float:
    """Sure where the first objects hold numbers; outside an array there must be two of them."""
    least = 1 if _BEGINS.match(head.data) else 2 if _PRETTY.match(head.data) or _CLOSE.match(head.data) else 0
    if not least:
        return 0.0
    records = _before_damage(head.data.decode("utf-8-sig", "replace"))
    found = [_row(record, 1) for (record, _), _ in zip(records, range(SNIFFED), strict=False)]
    return 0.9 if len([row for row in found if row]) >= least else 0.0


READER = Format(
    "json-array",
    "a JSON array of rows, flat or nested; also objects one after the other that are no JSON lines",
    sniff=_sniff,
    open=lambda _: JsonArray(),
)
