"""Turn a reader's events into a `Run`, all at once or as a file grows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable
from dataclasses import replace

import polars as pl

from klinic.diagnostics.knowledge.names import scale
from klinic.diagnostics.run.config import Config
from klinic.diagnostics.run.events import (
    ConfigRead,
    Event,
    Happened,
    Line,
    ManifestRead,
    Meta,
    Note,
    Row,
    SampleRead,
)
from klinic.diagnostics.run.lines import LinesOfNote
from klinic.diagnostics.run.model import FINITE, MINUS_INF, NAN, PLUS_INF, SWALLOWED, Attempt, Run, Source

MAX_SAMPLES = 2000
MAX_NOTES = 50


def _code(value: float) -> int:
    if math.isfinite(value):
        return FINITE
    if math.isnan(value):
        return NAN
    return PLUS_INF if value > 0 else MINUS_INF


def _scaled(raw: str, value: float | None) -> float | None:
    factor = scale(raw)
    return value if value is None or factor == 1.0 else value * factor


def _scaled_digits(raw: str, digits: int) -> int:
    return digits - round(math.log10(scale(raw)))


class Columns:
    """Metrics by column while rows arrive: plain arrays, NaN for "no finite value", codes beside them."""

    def __init__(self) -> None:
        self.rows = 0
        self.values: dict[str, array[float]] = {}
        self.codes: dict[str, dict[int, int]] = {}

    def start_row(self) -> None:
        """Open a new row; values put from now on belong to it."""
        self.rows += 1

    def holds(self, name: str) -> bool:
        """Whether the open row has a value or a flag for this metric already."""
        row = self.rows - 1
        column = self.values.get(name)
        flagged = row in self.codes.get(name, ())
        return flagged or (column is not None and len(column) > row and column[row] == column[row])

    def put(self, name: str, value: float | None, *, nulls_are_nan: bool) -> None:
        """Write one value into the open row; a null counts as non-finite only where the format says so."""
        row = self.rows - 1
        column = self.values.get(name)
        if value is None:
            if column is None and not nulls_are_nan:
                return
            code = SWALLOWED
        else:
            code = _code(value)
        if column is None:
            column = self.values[name] = array("d")
        if len(column) <= row:
            column.extend([math.nan] * (row + 1 - len(column)))
        if code == FINITE:
            column[row] = value  # type: ignore[assignment]
            self.codes.get(name, {}).pop(row, None)
        else:
            self.codes.setdefault(name, {})[row] = code

    def series(self, name: str) -> pl.Series:
        """One Float64 column, null where there is no finite value."""
        column = self.values[name]
        padded = column + array("d", [math.nan] * (self.rows - len(column)))
        return pl.Series(name, padded, dtype=pl.Float64).fill_nan(None)

    def flags(self, name: str) -> pl.Series:
        """One Int8 column of non-finite codes."""
        codes = bytearray(self.rows)
        for row, code in self.codes[name].items():
            codes[row] = code
        return pl.Series(name, list(codes), dtype=pl.Int8)


class RunBuilder:
    """Collects events and builds the `Run` as it stands; feeding in pieces gives the same as feeding at once.

    rename: (name as written, framework) -> verl's name for it.
    """

    def __init__(self, path: str, reader: str, rename: Callable[[str, str], str]) -> None:
        self._source = Source(path=path, format=reader)
        self._rename = rename
        self._names: dict[str, str] = {}
        self._columns = Columns()
        self._steps: list[int] = []
        self._times: list[float | None] = []
        self._attempts: list[int] = []
        self._decimals: dict[str, int] = {}
        self._config = Config()
        self._manifest: dict[str, object] = {}
        self._lines = LinesOfNote()
        self._events: list[Happened] = []
        self._samples: list[SampleRead] = []
        self._notes: list[str] = []
        self._last_line = 0
        self._new_attempt = False

    def add(self, events: Iterable[Event]) -> None:
        """Take events in the order in which the reader reports them."""
        for event in events:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case Row():
                self._take_row(event)
            case Line():
                self._last_line = max(self._last_line, event.line)
                self._lines.add(event)
            case ConfigRead():
                self._config = self._config.merged(event.values, user=event.user, where=event.where)
            case Happened():
                self._new_attempt |= event.kind == "resumed"
                self._events.append(event)
            case SampleRead():
                self._samples = [*self._samples, event][-MAX_SAMPLES:]
            case Note():
                if event.text not in self._notes and len(self._notes) < MAX_NOTES:
                    self._notes.append(event.text)
            case Meta():
                self._take_meta(event)
            case ManifestRead():
                self._manifest.update(event.data)

    def _take_meta(self, meta: Meta) -> None:
        known = {key: word for key in ("framework", "version", "not_rl") if (word := getattr(meta, key))}
        if known.get("framework", self._source.framework) != self._source.framework:
            self._names.clear()
        self._source = replace(self._source, **known)

    def _take_row(self, row: Row) -> None:
        self._last_line = max(self._last_line, row.line or 0)
        step = row.step if row.step is not None else (self._steps[-1] + 1 if self._steps else 1)
        values = {self._name_in(row, raw): _scaled(raw, value) for raw, value in row.values.items()}
        if not self._continues(step, values):
            self._open_row(step, row.time)
        for name, value in values.items():
            self._columns.put(name, value, nulls_are_nan=row.nulls_are_nan)
        for raw, digits in row.decimals.items():
            name = self._name_in(row, raw)
            self._decimals[name] = max(_scaled_digits(raw, digits), self._decimals.get(name, 0))

    def _name_in(self, row: Row, raw: str) -> str:
        """verl's name, unless the row has it too: 0.9.1 logs `actor/entropy` beside `actor/entropy_loss`."""
        name = self._name(raw)
        return raw if name != raw and name in row.values else name

    def _name(self, raw: str) -> str:
        name = self._names.get(raw)
        if name is None:
            name = self._names[raw] = self._rename(raw, self._source.framework)
        return name

    def _continues(self, step: int, names: dict[str, float | None]) -> bool:
        """A further line of the step at hand: validation is often logged apart from the training metrics."""
        if not self._steps or step != self._steps[-1] or self._new_attempt:
            return False
        return not any(self._columns.holds(name) for name in names)

    def _open_row(self, step: int, time: float | None) -> None:
        attempt = self._attempts[-1] if self._attempts else 1
        if self._steps and (step <= self._steps[-1] or self._new_attempt):
            attempt += 1
        self._new_attempt = False
        self._columns.start_row()
        self._steps.append(step)
        self._times.append(time)
        self._attempts.append(attempt)

    def build(self) -> Run:
        """The run as it stands after the events taken so far."""
        columns = self._columns
        fixed = [
            pl.Series("step", self._steps, dtype=pl.Int64),
            pl.Series("time", self._times, dtype=pl.Float64),
            pl.Series("attempt", self._attempts, dtype=pl.Int64),
        ]
        flagged = [name for name, codes in columns.codes.items() if codes]
        return Run(
            source=self._source,
            frame=pl.DataFrame([*fixed, *map(columns.series, columns.values)]),
            nonfinite=pl.DataFrame([columns.flags(name) for name in flagged]),
            decimals=dict(self._decimals),
            config=self._config,
            manifest=dict(self._manifest),
            lines=self._lines.kept(),
            events=tuple(self._events),
            samples=tuple(self._samples),
            attempts=self._stretches(),
            notes=tuple(self._notes),
            last_line=self._last_line,
        )

    def _stretches(self) -> tuple[Attempt, ...]:
        starts = [row for row, number in enumerate(self._attempts) if row == 0 or number != self._attempts[row - 1]]
        ends = [*starts[1:], len(self._attempts)]
        return tuple(
            Attempt(
                number=self._attempts[first],
                first_row=first,
                rows=end - first,
                first_step=min(self._steps[first:end]),
                last_step=max(self._steps[first:end]),
            )
            for first, end in zip(starts, ends, strict=False)
        )
