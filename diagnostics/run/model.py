"""The `Run`: everything that judging, reporting and drawing know about a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from klinic.diagnostics.run.config import Config
from klinic.diagnostics.run.events import Happened, Line, SampleRead
from klinic.diagnostics.run.growth import Growth

FIXED = ("step", "time", "attempt")

# Codes in `Run.nonfinite`; SWALLOWED is a null that a JSON logger wrote in place of a NaN or an infinity.
FINITE, NAN, PLUS_INF, MINUS_INF, SWALLOWED = range(5)
WORDS = {NAN: "nan", PLUS_INF: "inf", MINUS_INF: "-inf", SWALLOWED: "null"}


@dataclass(frozen=True)
class Source:
    """Where a run was read from: path as given, reader's name, framework and its version where known."""

    path: str = "-"
    format: str = ""
    framework: str = ""
    version: str = ""
    not_rl: str = ""


@dataclass(frozen=True)
class Attempt:
    """A stretch without a restart: rows [first_row, first_row + rows) of the frame, steps inclusive."""

    number: int
    first_row: int
    rows: int
    first_step: int
    last_step: int


@dataclass(frozen=True)
class Run:
    """A recording, read.

    frame: a row a step in order of writing; columns step (Int64), time (Float64, seconds since the epoch),
        attempt (Int64, from 1), then one Float64 column a metric under verl's 0.9.1 name (an unknown name
        stays as written). Null where a metric has no finite value in that row; NaN and infinity never occur.
    nonfinite: same height; one Int8 column for each metric that was ever non-finite, codes as above.
    decimals: metric -> digits after the point that the source printed; absent means full precision.
    lines: text lines of note (errors, warnings, tracebacks, the tail), bounded; incident cards read them.
    last_line: number of the last line or record read.
    growth: how the rows came about; None where the run was put together otherwise.
    """

    source: Source = field(default_factory=Source)
    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    nonfinite: pl.DataFrame = field(default_factory=pl.DataFrame)
    decimals: Mapping[str, int] = field(default_factory=dict)
    config: Config = field(default_factory=Config)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[Line, ...] = ()
    events: tuple[Happened, ...] = ()
    samples: tuple[SampleRead, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    last_line: int = 0
    growth: Growth | None = field(default=None, compare=False, repr=False)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics in the order in which they first appeared."""
        return tuple(name for name in self.frame.columns if name not in FIXED)

    @cached_property
    def worked_out(self) -> dict[str, Any]:
        """What others worked out of this state and keep with it, by name."""
        return {}

    @cached_property
    def _columns(self) -> frozenset[str]:
        return frozenset(self.frame.columns)

    @cached_property
    def spoiled(self) -> frozenset[str]:
        """Names of the metrics that were ever non-finite."""
        return frozenset(self.nonfinite.columns)

    @cached_property
    def restarts(self) -> tuple[int, ...]:
        """Rows at which another attempt begins, the first one apart."""
        if not self.frame.height or len(self.attempts) == 1:
            return ()
        attempts = self.frame["attempt"]
        return tuple((attempts != attempts.shift(1)).arg_true().to_list())

    @property
    def rows(self) -> int:
        """How many rows the frame has."""
        return self.frame.height

    @cached_property
    def steps(self) -> tuple[int, int] | None:
        """Lowest and highest step, or None where the run has no rows."""
        if not self.frame.height:
            return None
        column = self.frame["step"]
        return int(column.min()), int(column.max())  # type: ignore[arg-type]

    def has(self, metric: str) -> bool:
        """Whether the metric was ever written, finite or not."""
        return metric in self._columns

    def head(self, rows: int) -> Run:
        """The run as it stood after its first `rows` rows; text lines are left out, they have no row."""
        frame = self.frame.head(rows)
        steps = frame["step"].to_numpy() if frame.height else np.zeros(1, np.int64)
        last = int(steps.max())
        attempts = tuple(
            replace(
                attempt,
                rows=min(attempt.rows, rows - attempt.first_row),
                last_step=int(steps[attempt.first_row : attempt.first_row + attempt.rows].max()),
            )
            for attempt in self.attempts
            if attempt.first_row < rows
        )
        return replace(
            self,
            frame=frame,
            nonfinite=self.nonfinite.head(rows),
            attempts=attempts,
            lines=(),
            events=tuple(event for event in self.events if event.step is None or event.step <= last),
        )
