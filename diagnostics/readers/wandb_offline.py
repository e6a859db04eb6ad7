"""W&B's offline datastore (`run-*.wandb`), read without W&B: LevelDB log framing round protobuf records."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.fast.wandbstore import Items
from klinic.diagnostics.readers.records import protowire as wire
from klinic.diagnostics.readers.records.jsonrows import parse, row_of
from klinic.diagnostics.readers.records.leveldb import Records
from klinic.diagnostics.readers.records.metricnames import framework_of, why_not_rl
from klinic.diagnostics.readers.records.wandbitems import JSON_KEY, KEYS, usual_items
from klinic.diagnostics.run.config import flatten
from klinic.diagnostics.run.events import ConfigRead, Event, Happened, Line, Meta, Note, Row

MAGIC = b":W&B\xe1\xbe"
HISTORY, SUMMARY, OUTPUT, CONFIG, OUTPUT_RAW, RUN, EXIT = 2, 3, 4, 6, 13, 17, 18
NUMBER_KEY = 0x31  # of an item, as the wire has it


class Datastore:
    """One `.wandb` file being read."""

    def __init__(self) -> None:
        self._records = Records()
        self._count = 0
        self._damaged = 0
        self._rows = 0
        self._line = 0
        self._text = ""
        self._summary: dict[str, Any] = {}
        self._names: dict[str, None] = {}
        self._framework = ""
        self._items = Items()

    def feed(self, data: bytes) -> Iterator[Event]:
        """Report what the records that `data` completes hold."""
        for record in self._records.feed(data):
            self._count += 1
            try:
                events = list(self._take(record))
            except (ValueError, struct.error):
                self._damaged += 1
                continue
            yield from events
            while self._rows and (found := self._items.rows(self._records, self._count)) is not None:
                self._rows, self._count = self._rows + len(found.steps), found.line or 0
                yield found

    def close(self) -> Iterator[Event]:
        """Report the summary where there was no history, and what was damaged or cut."""
        if self._text:
            yield from self._lines("\n")
        if not self._rows and self._summary:
            yield from self._row(self._summary, "the run has a summary and no history: one row, its last values")
        records = self._records
        if records.bad:
            yield Note(
                f"{records.bad} records have a wrong checksum (first at byte {records.first_bad}); read all the same"
            )
        if records.lost or self._damaged:
            yield Note(f"{records.lost + self._damaged} damaged records were left out")
        if records.rest():
            yield Note(f"the last record is cut short (after record {self._count}) and was left out")
        yield Meta(not_rl=why_not_rl(self._names))

    def _take(self, record: bytes) -> Iterator[Event]:
        for field, value in wire.fields(record):
            if field == HISTORY:
                history = _history(wire.as_bytes(value))
                self._items.learn(history)
                yield from self._row(history)
            elif field == SUMMARY and not self._rows:  # it is asked for only where there is no history
                self._summary.update(_items(wire.as_bytes(value), 1))
            elif field == CONFIG:
                yield from _config(_items(wire.as_bytes(value), 1))
            elif field == RUN:
                yield from _run(wire.as_bytes(value))
            elif field in (OUTPUT, OUTPUT_RAW):
                yield from self._output(wire.as_bytes(value))
            elif field == EXIT:
                code = next((wire.as_int(v) for n, v in wire.fields(wire.as_bytes(value)) if n == 1), 0)
                yield Happened("failed" if code else "finished", data={"exit_code": wire.signed(code)})

    def _row(self, record: dict[str, Any], note: str = "") -> Iterator[Event]:
        row = row_of(record, self._count)
        if row is None:
            return
        self._rows += 1
        fresh = row.values.keys() - self._names.keys()
        self._names.update(dict.fromkeys(fresh))
        if fresh and not self._framework and (framework := framework_of(fresh)):
            self._framework = framework
            yield Meta(framework=framework)
        if note:
            yield Note(note)
        yield Row(row.values, row.step, row.time, line=self._count)

    def _output(self, data: bytes) -> Iterator[Event]:
        text = next((wire.as_text(value) for field, value in wire.fields(data) if field == 3), "")
        return self._lines(text)

    def _lines(self, text: str) -> Iterator[Event]:
        *whole, self._text = (self._text + text).split("\n")
        for line in whole:
            self._line += 1
            yield Line(line.rsplit("\r", 1)[-1] if line.rstrip("\r") == line else line.rstrip("\r"), self._line)


def _history(data: bytes) -> dict[str, Any]:
    if (usual := usual_items(data)) is not None:
        return usual
    record = _items(data, 1)
    for field, value in wire.fields(data):
        if field == 2:
            numbers = [wire.as_int(number) for key, number in wire.fields(wire.as_bytes(value)) if key == 1]
            record.setdefault("_step", wire.signed(numbers[0]) if numbers else 0)
    return record


def _items(data: bytes, number: int) -> dict[str, Any]:
    """Key -> value of the items in a history, summary or config record; items that are no JSON are left out."""
    found: dict[str, Any] = {}
    for field, value in wire.fields(data):
        if field == number:
            key, item = _item(wire.as_bytes(value))
            if key:
                found[key] = item
    return found


def _item(data: bytes) -> tuple[str, Any]:
    """(key, value) of one item: typed fields of newer writers, JSON text of all."""
    if (usual := _usual_item(data)) is not None:
        return usual
    keys: list[str] = []
    item: Any = None
    for field, value in wire.fields(data):
        if field in (1, 2):
            keys.append(wire.as_text(value))
        elif field == 4:
            item = bool(value)
        elif field == 5:
            item = wire.zigzag(wire.as_int(value))
        elif field == 6:
            item = wire.as_double(value)
        elif field == 7:
            item = wire.as_text(value)
        elif field in (8, 16):
            item = _json(wire.as_bytes(value))
    return "/".join(key for key in keys if key), item


def _usual_item(data: bytes) -> tuple[str, Any] | None:
    """Quick reading of the item that nearly all are: one short key and a JSON text, or a double."""
    end = 2 + data[1] if len(data) > 2 and data[1] < 0x80 else 0
    if data[0:1] not in KEYS or not 2 < end < len(data):
        return None
    if data[end : end + 2] == JSON_KEY and len(data) > end + 2 and len(data) - end - 3 == data[end + 2] < 0x80:
        return data[2:end].decode("utf-8", "replace"), _json(data[end + 3 :])
    if data[end] == NUMBER_KEY and len(data) == end + 9:
        return data[2:end].decode("utf-8", "replace"), wire.as_double(data[end + 1 :])
    return None


def _json(data: bytes) -> Any:
    try:
        return parse(data)
    except ValueError:
        return data.decode("utf-8", "replace")


def _config(items: dict[str, Any]) -> Iterator[Event]:
    values = {key.replace("/", "."): item for key, item in items.items() if not key.startswith("_wandb")}
    if values:
        yield ConfigRead(dict(flatten(values)), user=False, where="W&B config")


def _run(data: bytes) -> Iterator[Event]:
    time, step, resumed = None, None, False
    for field, value in wire.fields(data):
        if field == 4:
            yield from _config(_items(wire.as_bytes(value), 1))
        elif field == 14:
            step = wire.signed(wire.as_int(value))
        elif field == 17:
            parts = {key: wire.as_int(number) for key, number in wire.fields(wire.as_bytes(value))}
            time = parts.get(1, 0) + parts.get(2, 0) * 1e-9
        elif field in (18, 24):
            resumed |= bool(value)
    yield Happened("resumed" if resumed else "started", step, time)


def _sniff(head: Head) -> float:
    """Sure where the datastore's magic stands."""
    return 1.0 if head.data.startswith(MAGIC) else 0.0


READER = Format(
    "wandb",
    "W&B offline run (run-*.wandb): history, config, summary; output.log beside it",
    sniff=_sniff,
    open=lambda _: Datastore(),
    binary=True,
)
