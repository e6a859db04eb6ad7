"""The rows of a recording while it is read: step, time and attempt of each, and the metrics by column."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

import polars as pl

from klinic.diagnostics.run.columns import Columns
from klinic.diagnostics.run.events import Block
from klinic.diagnostics.run.model import Attempt


class Rows:
    """Steps rise within an attempt. rename: name of a metric as written -> name of its column.

    Only the latest rows are held here; those before stand in frames that every state of the recording shares.
    """

    def __init__(self, rename: Callable[[str], str]) -> None:
        self.columns = Columns(rename)
        self._base = 0  # the first row that is open
        self._steps: list[int] = []
        self._times: list[float | None] = []
        self._numbers: list[int] = []
        self._begun: list[Attempt] = []  # with the first row and step of each
        self._stands = pl.DataFrame()  # step, time and attempt of the rows that are not open, with others

    def fork(self, rename: Callable[[str], str]) -> Rows:
        """A copy that can grow without touching this one; what both have is sealed, so that they share it."""
        if self.columns.many_open:
            self.frames()
        other = Rows(rename)
        other.columns, other._base, other._stands = self.columns.fork(rename), self._base, self._stands
        other._steps, other._times = self._steps.copy(), self._times.copy()
        other._numbers, other._begun = self._numbers.copy(), self._begun.copy()
        return other

    def __len__(self) -> int:
        return self._base + len(self._steps)

    @property
    def last_step(self) -> int | None:
        """Step of the last row, None before the first."""
        return self._steps[-1] if self._steps else None

    def open(self, step: int, time: float | None, resumed: bool) -> None:
        """Begin a row; another attempt where the step does not rise or the training was resumed."""
        self._begin(step, resumed or (bool(self._steps) and step <= self._steps[-1]))
        self.columns.start_row()
        self._steps.append(step)
        self._times.append(time)
        self._numbers.append(self._begun[-1].number)

    def _begin(self, step: int, again: bool) -> None:
        if not self._begun or (again and self._steps):
            self._begun.append(Attempt(len(self._begun) + 1, len(self), 0, step, step))

    def dated(self, time: float | None) -> None:
        """The time of the last row, where it has none yet."""
        if self._times[-1] is None:
            self._times[-1] = time

    def append(self, block: Block, targets: list[tuple[str, float]], start: int, end: int) -> None:
        """New rows with rising steps beyond the last: nothing to merge, no new attempt."""
        steps: list[int] = block.steps[start:end].tolist()
        times = [None] * len(steps) if block.times is None else block.times[start:end].tolist()
        self._begin(steps[0], again=False)
        self.columns.put_block(block, targets, start, end)
        self._numbers += [self._begun[-1].number] * len(steps)
        self._steps += steps
        self._times += [time if time == time else None for time in times]

    def row_of(self, step: int) -> int | None:
        """The row of a step in the attempt at hand."""
        first = self._begun[-1].first_row if self._begun else 0
        at = bisect_left(self._steps, step, max(first - self._base, 0))
        if at < len(self._steps) and self._steps[at] == step:
            return self._base + at
        if first >= self._base:
            return None
        earlier = self._stands["step"].slice(first, self._base - first)
        row = int(earlier.search_sorted(step))
        return first + row if row < len(earlier) and earlier[row] == step else None

    def attempts(self) -> tuple[Attempt, ...]:
        """The attempts so far, in order."""
        ends = [attempt.first_row for attempt in self._begun[1:]]
        return tuple(
            replace(attempt, rows=end - attempt.first_row, last_step=self._step(end - 1))
            for attempt, end in zip(self._begun, [*ends, len(self)], strict=False)
        )

    def _step(self, row: int) -> int:
        return self._steps[row - self._base] if row >= self._base else int(self._stands["step"][row])

    def frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """All rows, and the codes of what is not finite, as `Run` has them."""
        fixed = [
            pl.Series("step", self._steps, dtype=pl.Int64),
            pl.Series("time", self._times, dtype=pl.Float64),
            pl.Series("attempt", self._numbers, dtype=pl.Int64),
        ]
        frame, nonfinite, sealed = self.columns.frames(fixed)
        if sealed:
            self._stands, self._base = frame, self._base + sealed
            del self._steps[:sealed], self._times[:sealed], self._numbers[:sealed]
        return frame, nonfinite
