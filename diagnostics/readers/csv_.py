"""CSV tables: plain ones, verl's with `_` for `/`, exports of the W&B UI with a column a run and key."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import dropwhile

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.records.jsonrows import STEP_KEYS, TIME_KEYS
from klinic.diagnostics.readers.records.metricnames import framework_of, why_not_rl
from klinic.diagnostics.readers.sources.bytestream import LineSplitter
from klinic.diagnostics.run.events import Event, InRun, Meta, Note, Row

STEPS = (*STEP_KEYS, "training_global_step", "train_global_step", "global_steps", "iteration", "epoch_step")
DELIMITERS = ",;\t"
_EXTREME = re.compile(r"__(MIN|MAX)$")
_VERL = re.compile(r"^(actor|critic|response_length|timing_s|perf|val_core|val_aux)_")
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_BEFORE = re.compile(
    r"#|sep=", re.IGNORECASE
)  # what may stand before the header: comments, Excel's word for the delimiter
_WORDS = {"true": 1.0, "false": 0.0}
MAX_WORDS = 7  # of a column's name; one line of longer ones is a sentence with a comma


def cell(text: str, delimiter: str = ",") -> float | None:
    """A cell's number, with a decimal comma or groups of thousands too; None where empty; ValueError for a word."""
    text = text.strip()
    if not text:
        return None
    if "," in text:
        text = text.replace(",", "") if _GROUPED.fullmatch(text) and delimiter != ";" else _decimal(text)
    word = _WORDS.get(text.lower())
    return float(text.replace("_", "x")) if word is None else word


def _decimal(text: str) -> str:
    """A number with a decimal comma as Python spells it; points before the comma part thousands."""
    return text.replace(".", "").replace(",", ".") if text.rfind(",") > text.rfind(".") else text


def cells_of(text: str, delimiter: str) -> list[str]:
    """The cells of a row; what the csv module refuses (a bare carriage return, a giant cell) is cut plainly."""
    text = text.replace("\0", "").rstrip("\r\n")
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return text.split(delimiter)


class Table:
    """One CSV being read. A quoted cell may hold line ends; such a line waits for its end."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._lines = LineSplitter()
        self._line = 0
        self._pending = ""
        self._header: list[str] | None = None
        self._step: int | None = None
        self._time: int | None = None
        self._runs: dict[str, list[tuple[int, str]]] = {}
        self._words = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """Report the rows of the lines that `data` completes."""
        for line in self._lines.feed(data):
            yield from self._take(line)

    def close(self) -> Iterator[Event]:
        """Report the last row, where it has as many cells as the header, and what was left out."""
        rest = self._lines.rest()
        if rest.strip(b"\r\n \0") or self._pending:
            yield from self._take(rest, last=True)
        if self._words:
            yield Note(f"{self._words} cells that hold no number were left out")
        names = [name for columns in self._runs.values() for _, name in columns]
        for run in self._runs if len(self._runs) > 1 else ():
            yield InRun(run)
            yield Meta(not_rl=why_not_rl(names))
        if len(self._runs) == 1:
            yield Meta(not_rl=why_not_rl(names))

    def _take(self, line: bytes, last: bool = False) -> Iterator[Event]:
        self._line += 1
        text = self._pending + line.decode("utf-8-sig" if self._line == 1 else "utf-8", "replace")
        if text.count('"') % 2 and not last and len(text) < 1_000_000:
            self._pending = text + "\n"
            return
        self._pending = ""
        cells = cells_of(text, self._delimiter) if self._header or not _BEFORE.match(text) else []
        if any(cells):
            yield from self._start(cells) if self._header is None else self._row(cells, last)

    def _start(self, header: list[str]) -> Iterator[Event]:
        self._header = header
        names = [name.strip() for name in header]
        lower = [name.lower() for name in names]
        self._step = next((lower.index(key) for key in STEPS if key in lower), None)
        self._time = next((lower.index(key) for key in TIME_KEYS if key in lower), None)
        for index, name in enumerate(names):
            if index in (self._step, self._time) or _EXTREME.search(name) or not name:
                continue
            run, _, key = name.rpartition(" - ")
            if key.startswith("_"):
                continue  # W&B's own: _step, _timestamp, _runtime
            self._runs.setdefault(run, []).append((index, key))
        plain = [key for columns in self._runs.values() for _, key in columns]
        framework = "verl" if any(map(_VERL.match, plain)) else framework_of(plain)
        if framework:
            for run in self._runs:
                if len(self._runs) > 1:
                    yield InRun(run)
                yield Meta(framework=framework)

    def _row(self, cells: list[str], last: bool) -> Iterator[Event]:
        header = self._header or []
        if len(cells) < len(header):
            where = "the last line" if last else f"line {self._line}"
            yield Note(f"{where} is cut short ({len(cells)} of {len(header)} cells) and was left out")
            return
        step, time = self._number(cells, self._step), self._number(cells, self._time)
        for run, columns in self._runs.items():
            values = {key: value for index, key in columns if (value := self._number(cells, index)) is not None}
            if not values:
                continue
            if len(self._runs) > 1:
                yield InRun(run)
            yield Row(values, int(step) if step is not None and abs(step) < 2**62 else None, time, line=self._line)

    def _number(self, cells: list[str], index: int | None) -> float | None:
        if index is None:
            return None
        try:
            return cell(cells[index], self._delimiter)
        except ValueError:
            self._words += 1
            return None


def from_header(head: Head) -> list[str]:
    """The lines from the header on."""
    lines = head.data.decode("utf-8-sig", "replace").lstrip().splitlines()
    return list(dropwhile(_BEFORE.match, lines))


def delimiter_of(lines: list[str]) -> str:
    """The delimiter of the first line, "" where it is no header of a table."""
    if not lines or lines[0].lstrip().startswith(("{", "[")):
        return ""
    best = max(DELIMITERS, key=lines[0].count)
    return best if best in lines[0] else ""


def _is_header(cells: list[str]) -> bool:
    """Names, most of them different, short, and at least one of them a step or none a sentence."""
    names = [name.strip() for name in cells]
    if len(names) < 2 or len(set(names)) < len(names) * 0.8 or any(len(name) > 300 for name in names):
        return False
    words = [name for name in names if name]
    return all(re.search(r"[A-Za-z]", name) and not re.search(r"[{}]|: ", name) for name in words) and bool(words)


def _is_row(cells: list[str], width: int, delimiter: str) -> bool:
    if len(cells) != width:
        return False
    numbers = words = 0
    for text in cells:
        try:
            numbers += cell(text, delimiter) is not None
        except ValueError:
            words += 1
    return numbers > words


def _sniff(head: Head) -> float:
    """How surely the first line is a header and those after it rows of numbers as wide as that."""
    lines = from_header(head)[:20]
    if not head.complete and len(lines) > 1:
        lines = lines[:-1]
    delimiter = delimiter_of(lines)
    if not delimiter:
        return 0.0
    header, *rows = [cells_of(line, delimiter) for line in lines if line.strip()] or [[]]
    if not _is_header(header):
        return 0.0
    good = sum(_is_row(row, len(header), delimiter) for row in rows)
    if not rows:
        return 0.0 if any(len(cell.split()) > MAX_WORDS for cell in header) else 0.4
    return 0.5 + 0.45 * good / len(rows) if good else 0.0


READER = Format(
    "csv",
    "CSV: verl tables (also with _ for /), W&B UI exports (several runs too), any table of metrics",
    sniff=_sniff,
    open=lambda head: Table(delimiter_of(from_header(head)[:1]) or ","),
)
