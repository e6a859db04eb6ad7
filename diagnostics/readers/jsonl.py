"""JSON lines: verl's file logger, klinic's metric stream, ms-swift, W&B history, flat and nested tables."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.fast.jsonlines import Stretch, Worth
from klinic.diagnostics.readers.fast.jsonshape import Shape, merged
from klinic.diagnostics.readers.records.jsonrows import parse, row_of
from klinic.diagnostics.readers.records.metricnames import framework_of, why_not_rl
from klinic.diagnostics.readers.sources.bytestream import LineSplitter
from klinic.diagnostics.run.events import Event, Line, Meta, Note, Row

SNIFFED_LINES = 50
PIECE = 1 << 19  # what fits into a cache is quicker
MANY = 32  # fewer lines than these are not worth the quick way


class JsonLines:
    """One source of JSON lines being read."""

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._line = 0
        self._names: dict[str, None] = {}
        self._framework = ""
        self._shape = Shape()
        self._worth = Worth()

    def feed(self, data: bytes) -> Iterator[Event]:
        """Report the rows of the lines that `data` completes, in blocks where they are alike."""
        if self._worth and data.count(b"\n") >= MANY:
            return merged(self._compiled(Stretch(self._lines.whole(data))))
        pieces = (data[start : start + PIECE] for start in range(0, len(data), PIECE))
        return merged(event for piece in pieces for event in self._feed(self._lines.feed(piece)))

    def _feed(self, lines: list[bytes]) -> Iterator[Event]:
        quick: list[Any] = []
        many = len(lines) >= MANY
        for line in lines:
            if many and self._shape.usable() and (record := self._shape.decode(line)) is not None:
                quick.append((record, line))
                self._line += 1
                continue
            yield from self._block(quick)
            yield from self._take(line)
        yield from self._block(quick)

    def _compiled(self, text: Stretch) -> Iterator[Event]:
        """Read by the compiled part what it can read, the slow way one line after that, and so on."""
        while self._worth and not text.done:
            if self._shape.usable():
                block = text.rows(self._shape.known(), self._line)
                if block is not None:
                    self._line += len(block.steps)
                    yield block
                self._worth.count(len(block.steps) if block else 0)
            if not text.done:
                yield from self._take(text.line())
        if not text.done:
            yield from self._feed(text.lines())

    def _block(self, quick: list[Any]) -> Iterator[Event]:
        """Report what was read the quick way; the slow way where a line turns out odd."""
        if not quick:
            return
        block = self._shape.block([record for record, _ in quick], self._line)
        if block is not None:
            yield block
        else:
            self._line -= len(quick)
            for _, line in quick:
                yield from self._take(line)
        quick.clear()

    def close(self) -> Iterator[Event]:
        """Report the last line where it has no line end, or that it was cut."""
        rest = self._lines.rest()
        if rest.strip():
            yield from self._take(rest, last=True)
        yield Meta(not_rl=why_not_rl(self._names))

    def _take(self, line: bytes, last: bool = False) -> Iterator[Event]:
        self._line += 1
        if not line or line.isspace():
            return
        try:
            record = parse(line.removeprefix(codecs.BOM_UTF8))  # one file written behind another
        except ValueError:
            yield from self._odd(line, last)
            return
        self._shape.learn(record)
        row = row_of(record, self._line) if isinstance(record, dict) else None
        if row is None:
            yield Line(line.decode("utf-8", "replace").rstrip("\r"), self._line)
            return
        yield from self._learn(row)
        yield row

    def _odd(self, line: bytes, last: bool) -> Iterator[Event]:
        text = line.decode("utf-8", "replace").rstrip("\r")
        yield Line(text, self._line)
        if text.lstrip().startswith("{"):
            cut = f"the last line is cut short ({len(line)} bytes) and was left out"
            odd = f"line {self._line} is no whole JSON object ({len(line)} bytes) and was left out"
            yield Note(cut if last else odd)
        else:
            yield Note(f"lines that are no JSON stand among the metrics (first at line {self._line}); kept as text")

    def _learn(self, row: Row) -> Iterator[Event]:
        fresh = row.values.keys() - self._names.keys()
        if not fresh:
            return
        self._names.update(dict.fromkeys(fresh))
        framework = framework_of(fresh)
        if framework and framework != self._framework and not self._framework:
            self._framework = framework
            yield Meta(framework=framework)


def _sniff(head: Head) -> float:
    """The share of whole lines that are JSON objects with numbers."""
    lines = [line for line in head.data.split(b"\n")[: SNIFFED_LINES + 1] if line.strip()]
    if not lines or not lines[0].lstrip().startswith(b"{"):
        return 0.0
    whole = lines[:-1] if len(lines) > 1 else lines
    good = sum(_is_row(line) for line in whole)
    return 0.0 if not good else 0.5 + 0.48 * good / len(whole)


def _is_row(line: bytes) -> bool:
    try:
        record = parse(line)
    except ValueError:
        return False
    return isinstance(record, dict) and row_of(record) is not None


READER = Format(
    "jsonl",
    "JSON lines: verl file logger, klinic metrics.jsonl, ms-swift, W&B history, flat or nested tables",
    sniff=_sniff,
    open=lambda _: JsonLines(),
)
