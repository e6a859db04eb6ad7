"""TensorBoard event files (`events.out.tfevents.*`), read without TensorBoard."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.fast.eventlayout import Layout, layout_at
from klinic.diagnostics.readers.records import protowire as wire
from klinic.diagnostics.readers.records import tfrecord
from klinic.diagnostics.readers.records.crc import wrong
from klinic.diagnostics.readers.records.jsonrows import parse
from klinic.diagnostics.readers.records.metricnames import framework_of, why_not_rl
from klinic.diagnostics.readers.records.tensorproto import scalar_of_tensor
from klinic.diagnostics.run.config import flatten
from klinic.diagnostics.run.events import ConfigRead, Event, Meta, Note, Row

TIME_KEY, STEP_KEY, FLOAT_KEY = 0x09, 0x10, 0x15  # wall_time, step, simple_value as the wire has them
NO_STEP = b"\xff" * 11  # longer than any number on the wire
_FLOAT = struct.Struct("<f").unpack_from
MANY = 64 * 1024  # fewer bytes are not worth the quick way
MAX_LAYOUTS = 32
_SCALARS = ("", "scalars")
ARGUMENTS = "args/text_summary"  # transformers writes its training arguments under this tag


class EventFile:
    """One event file being read. Scalars of a step stand in events of their own; a row is a stretch of one step."""

    def __init__(self) -> None:
        self._frames = tfrecord.Frames()
        self._tags: dict[bytes, str] = {}
        self._step_bytes = NO_STEP
        self._names: dict[str, None] = {}
        self._step: int | None = None
        self._time = 0.0
        self._values: dict[str, float | None] = {}
        self._records = 0
        self._damaged = 0
        self._framework = False
        self._layouts: list[Layout] = []
        self._missed = 0
        self._unsound = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """Report the rows whose step is over, in blocks where the steps are alike."""
        seen: list[tuple[bytes, bytes]] = []
        frames = self._frames
        for frame in frames.feed(data):
            self._records += 1
            seen.append(frame)
            before = self._step
            if not self._known(frame[0]):
                yield from self._take(frame[0])
            if self._step != before and len(frames.buffer) >= MANY:
                yield from self._steps_alike(seen)
        for _ in wrong(seen):
            self._unsound += 1

    def _steps_alike(self, seen: list[tuple[bytes, bytes]]) -> Iterator[Event]:
        """The last record seen began a step: read that step and those after it at once, where they are alike."""
        frames, size = self._frames, len(seen[-1][0]) + 16
        start = frames.at - size
        layout = next((known for known in self._layouts if known.begins(frames.buffer, start)), None)
        if layout is None and self._missed < MAX_LAYOUTS:
            self._missed += 1
            layout = layout_at(frames.buffer, start)
        if layout is None:
            return
        at, data = start, memoryview(frames.buffer)
        while found := layout.rows(data[at:]):
            block, length, unsound = found
            if at == start:
                self._values.clear()
                self._records -= 1
                seen.pop()
            yield from self._flush()
            at += length
            self._unsound += unsound
            self._records += len(block.steps) * len(block.names)
            yield from self._learn_names(block.names)
            yield replace(block.head(len(block.steps) - 1), line=self._records - len(block.names))
            last = block.row(len(block.steps) - 1)  # more of its step may follow
            self._values, self._step, self._time = dict(last.values), last.step, last.time or 0.0
        if at == start:
            return
        self._step_bytes = NO_STEP
        self._layouts = [layout, *(other for other in self._layouts if other is not layout)][:MAX_LAYOUTS]
        frames.jump(at - start - size)

    def _known(self, record: bytes) -> bool:
        """The usual case, quick: a further tag of the step at hand, in the very bytes that named the tag before."""
        end = 10 + len(self._step_bytes)
        tag = self._tags.get(record[end:-4]) if record[10:end] == self._step_bytes else None
        if tag is None or (record[0], record[9]) != (TIME_KEY, STEP_KEY) or tag in self._values:
            return False
        self._values[tag] = _FLOAT(record, len(record) - 4)[0]
        return True

    def close(self) -> Iterator[Event]:
        """Report the last row and what was damaged or cut."""
        yield from self._flush()
        frames = self._frames
        if frames.skipped or self._damaged:
            where = f" from byte {frames.first_skip}" if frames.skipped else ""
            yield Note(f"damaged records{where} were left out ({frames.skipped} bytes, {self._damaged} records)")
        if self._unsound:
            yield Note(f"{self._unsound} records have a wrong checksum; read all the same")
        if frames.rest():
            yield Note(f"the last record is cut short ({frames.rest()} bytes) and was left out")
        yield Meta(not_rl=why_not_rl(self._names))

    def _flush(self) -> Iterator[Event]:
        if not self._values:
            return
        values, self._values = self._values, {}
        yield from self._learn_names(values)
        yield Row(values, self._step, self._time, line=self._records)

    def _learn_names(self, names: Iterable[str]) -> Iterator[Event]:
        fresh = set(names) - self._names.keys()
        self._names.update(dict.fromkeys(fresh))
        framework = "" if self._framework or not fresh else framework_of(fresh)
        if framework:
            self._framework = True
            yield Meta(framework=framework)

    def _take(self, record: bytes) -> Iterator[Event]:
        try:
            time, step, found = self._event(record)
        except (ValueError, struct.error):
            self._damaged += 1
            return
        for tag, value, text in found:
            if text and tag == ARGUMENTS:
                yield from _arguments(text)
            if value is None:
                continue
            if step != self._step or tag in self._values:
                yield from self._flush()
                self._step, self._time = step, time
            self._values[tag] = value
            self._step_bytes = self._learn(record, tag) if len(found) == 1 else NO_STEP

    def _event(self, record: bytes) -> tuple[float, int, list[tuple[str, float | None, str]]]:
        time, step, found = 0.0, 0, []
        for field, value in wire.fields(record):
            if field == 1:
                time = wire.as_double(value)
            elif field == 2:
                step = wire.signed(wire.as_int(value))
            elif field == 5:
                summary = wire.as_bytes(value)
                found = [_value(wire.as_bytes(part)) for number, part in wire.fields(summary) if number == 1]
        return time, step, found

    def _learn(self, record: bytes, tag: str) -> bytes:
        """Remember how `SummaryWriter.add_scalar` writes this tag (wall time, step, tag, float); the step's bytes."""
        if len(record) < 16 or (record[0], record[9], record[-5]) != (TIME_KEY, STEP_KEY, FLOAT_KEY):
            return NO_STEP
        _, end = wire.varint(record, 10)
        self._tags[record[end:-4]] = tag
        return record[10:end]


def _value(data: bytes) -> tuple[str, float | None, str]:
    """(tag, scalar, text) of a Summary.Value; the scalar is None for images, histograms and the like."""
    tag, number, text, plugin, tensor = "", None, "", "", b""
    for field, value in wire.fields(data):
        if field == 1:
            tag = wire.as_text(value)
        elif field == 2:
            number = wire.as_float(value)
        elif field == 8:
            tensor = wire.as_bytes(value)
        elif field == 9:
            plugin = _plugin(wire.as_bytes(value))
    if plugin not in _SCALARS:
        strings = [value for field, value in wire.fields(tensor) if field == 8] if plugin == "text" else []
        return tag, None, wire.as_text(strings[0]) if strings else text
    return tag, scalar_of_tensor(tensor) if tensor and number is None else number, text


def _plugin(metadata: bytes) -> str:
    for field, value in wire.fields(metadata):
        if field == 1:
            return next((wire.as_text(name) for number, name in wire.fields(wire.as_bytes(value)) if number == 1), "")
    return ""


def _arguments(text: str) -> Iterator[Event]:
    try:
        tree = parse(text.strip().removeprefix("```json").strip("`"))
    except ValueError:
        return
    if isinstance(tree, dict):
        yield ConfigRead(dict(flatten(tree)), user=False, where="TensorBoard text (args)")


def _sniff(head: Head) -> float:
    """Sure where the first frame's length has its right CRC."""
    return 1.0 if tfrecord.starts_a_record(head.data) else 0.0


READER = Format(
    "tensorboard",
    "TensorBoard event files (events.out.tfevents.*), several files of one folder as one run",
    sniff=_sniff,
    open=lambda _: EventFile(),
    binary=True,
)
