"""Long CSV tables, a line for each step and metric: exports of MLflow and of databases (`step,key,value`)."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.csv_ import STEPS, cell, cells_of, delimiter_of, from_header
from klinic.diagnostics.readers.records.metricnames import framework_of, why_not_rl
from klinic.diagnostics.readers.sources.bytestream import LineSplitter
from klinic.diagnostics.run.events import Event, Meta, Note, Row

NAMES, VALUES = ("metric", "key", "name", "tag", "metric_name"), ("value", "metric_value")


def places(header: list[str]) -> tuple[int, int, int] | None:
    """Where step, name and value stand in a header; None where it is of another kind."""
    lower = [name.strip().lower() for name in header]
    found = [next((lower.index(name) for name in names if name in lower), -1) for names in (STEPS, NAMES, VALUES)]
    return (found[0], found[1], found[2]) if min(found) >= 0 else None


class LongTable:
    """One table being read. It may be ordered by metric, so rows are reported by step, when it has ended."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._lines = LineSplitter()
        self._line = 0
        self._places: tuple[int, int, int] | None = None
        self._rows: dict[int, dict[str, float | None]] = {}
        self._odd = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """Collect."""
        for line in self._lines.feed(data):
            self._take(line)
        return iter(())

    def close(self) -> Iterator[Event]:
        """Report the rows, and what was left out."""
        if rest := self._lines.rest():
            self._take(rest)
        if self._odd:
            yield Note(f"{self._odd} lines without step, name and number were left out")
        names = {name for row in self._rows.values() for name in row}
        yield Meta(framework=framework_of(names), not_rl=why_not_rl(names))
        for step in sorted(self._rows):
            yield Row(self._rows[step], step)

    def _take(self, line: bytes) -> None:
        cells = cells_of(line.decode("utf-8-sig", "replace"), self._delimiter)
        if self._places is None:
            self._places = places(cells)
        elif any(cells):
            self._value(cells, self._places)

    def _value(self, cells: list[str], at: tuple[int, int, int]) -> None:
        try:
            step, name = cell(cells[at[0]], self._delimiter), cells[at[1]].strip()
            value = cell(cells[at[2]], self._delimiter)
        except (ValueError, IndexError):
            self._odd += 1
            return
        if step is None or not abs(step) < 2**62 or not name:
            self._odd += 1
        elif value is not None:
            self._rows.setdefault(int(step), {})[name] = value


def _sniff(head: Head) -> float:
    """Sure where the header names step, metric and value, and the first line has a number there."""
    lines = from_header(head)[:2]
    delimiter = delimiter_of(lines)
    found = places(cells_of(lines[0], delimiter)) if delimiter and len(lines) > 1 else None
    if not found:
        return 0.0
    try:
        return 0.96 if cell(cells_of(lines[1], delimiter)[found[2]], delimiter) is not None else 0.0
    except (ValueError, IndexError):
        return 0.0


READER = Format(
    "csv-long",
    "CSV with a line for each step and metric (step, key, value), as MLflow and databases export it",
    sniff=_sniff,
    open=lambda head: LongTable(delimiter_of(from_header(head)[:1]) or ","),
)
