"""What signals are evaluated on: consecutive rows of a run, and facts about it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.run import Run

Floats = npt.NDArray[np.float64]  # NaN is unknown; truth values are 1 and 0
Mask = npt.NDArray[np.bool_]


class Facts(Protocol):
    """Facts of a run's config that signals scale by; every one is None where the log does not say."""

    @property
    def algorithm(self) -> str | None:
        """Advantage estimator: gae, grpo, ..."""

    @property
    def framework(self) -> str | None:
        """Who wrote the log: verl, trl, ..."""

    @property
    def U(self) -> float | None:  # noqa: N802 (its name everywhere)
        """Optimiser updates per rollout batch."""

    @property
    def n(self) -> float | None:
        """Samples a prompt."""

    @property
    def total_steps(self) -> float | None:
        """Planned steps."""

    @property
    def lr_warmup_steps(self) -> float | None:
        """Steps of learning rate warm-up."""

    @property
    def critic_warmup(self) -> float | None:
        """Steps in which only the critic learns."""

    @property
    def train_batch_size(self) -> float | None:
        """Prompts a batch."""

    @property
    def val_rows(self) -> float | None:
        """Rows of the validation set."""


@dataclass(frozen=True)
class PlainFacts:
    """Facts stated outright: tests, cases and runs without a config."""

    algorithm: str | None = None
    framework: str | None = None
    U: float | None = None
    n: float | None = None
    total_steps: float | None = None
    lr_warmup_steps: float | None = None
    critic_warmup: float | None = None
    response_cap: float | None = None
    train_batch_size: float | None = None
    val_rows: float | None = None


NOTHING = np.zeros(1, np.bool_)


@dataclass(frozen=True)
class Block:
    """Rows [first, last) of a run's frame. The frame may hold later rows; signals never look at them."""

    run: Run
    first: int
    last: int
    facts: Facts = field(default_factory=PlainFacts)

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.last - self.first

    def column(self, name: str) -> Floats:
        """Values of a metric over the block's rows, NaN where it has none; not to be written to."""
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = self._read(name)
        return column

    @cached_property
    def _columns(self) -> dict[str, Floats]:
        """The columns asked for so far."""
        return {}

    def _read(self, name: str) -> Floats:
        if not self.run.has(name):
            return np.full(self.height, np.nan)
        return self.run.frame[name].slice(self.first, self.height).to_numpy()

    def value(self, name: str) -> float | None:
        """Value of a metric in the block's first row."""
        value: float | None = self._row.get(name)
        return value

    @cached_property
    def _row(self) -> dict[str, Any]:
        frame = self.run.frame
        return dict(zip(frame.columns, frame.row(self.first), strict=True))

    def flagged(self, name: str) -> Mask:
        """Rows in which the metric was not finite."""
        if name not in self.run.spoiled:
            return NOTHING if self.height == 1 else np.zeros(self.height, dtype=np.bool_)
        return np.asarray(self.run.nonfinite[name].slice(self.first, self.height).to_numpy() > 0)

    def seen(self, name: str) -> Mask:
        """Rows in which the metric was written, finite or not."""
        if self.height == 1:
            return self.flagged(name) if self.value(name) is None else np.ones(1, np.bool_)
        return np.asarray(~np.isnan(self.column(name)) | self.flagged(name))

    @cached_property
    def steps(self) -> Floats:
        """Steps of the rows."""
        if self.height == 1:
            return np.array([self._row["step"]], np.float64)
        return self.run.frame["step"].slice(self.first, self.height).to_numpy().astype(np.float64)

    @cached_property
    def attempts(self) -> list[int]:
        """Attempt numbers of the rows."""
        if self.height == 1:
            return [self._row["attempt"]]
        return self.run.frame["attempt"].slice(self.first, self.height).to_list()

    @cached_property
    def begins(self) -> int:
        """Row of the frame at which the training that the block's first row belongs to began from scratch."""
        restarts = self.run.restarts
        before = reversed(restarts[: bisect_right(restarts, self.first)])
        return next((row for row in before if _from_scratch(self.run, row)), 0)

    @property
    def trainings(self) -> list[Block]:
        """The block cut where a training begins from scratch; itself where none does."""
        return self._parts or [self]

    @cached_property
    def _parts(self) -> list[Block]:
        """The parts of a block that is cut; never the block itself, which would then wait for the garbage collector."""
        cuts = [row for row in fresh_starts(self.run, self.first, self.last) if row > self.first]
        ends = [self.first, *cuts, self.last]
        return [replace(self, first=a, last=b) for a, b in pairwise(ends)] if cuts else []

    @property
    def anew(self) -> bool:
        """Whether a training begins from scratch at the block's first row, others having come before."""
        return self.first > 0 and self.begins == self.first

    def fact(self, name: str) -> Any:
        """A fact, None where nobody knows."""
        return getattr(self.facts, name, None)


MAX_ROWS = 8192  # of a block: what is evaluated of a long run must not fill the memory


def blocks(run: Run, first: int, last: int, facts: Facts) -> Iterator[Block]:
    """Rows [first, last) in blocks of a bounded size."""
    for start in range(first, last, MAX_ROWS):
        yield Block(run, start, min(start + MAX_ROWS, last), facts)


FIRST_STEP = 1  # a training that takes up a checkpoint goes on after its step, which is 1 or later


def fresh_starts(run: Run, first: int, last: int) -> list[int]:
    """Rows in [first, last) at which an attempt after the first one is another training.

    It begins from scratch, with nothing taken up; or a rescue went back to a checkpoint and changed the config, so
    that what came before says nothing of it.
    """
    return [row for row in run.restarts if first <= row < last and _from_scratch(run, row)]


def _from_scratch(run: Run, row: int) -> bool:
    return bool(run.frame["step"][row] <= FIRST_STEP) or _rescued(run, row)


def _rescued(run: Run, row: int) -> bool:
    """Whether a rescue lies between the row before and this one."""
    times = run.frame["time"]
    before, now = times[row - 1], times[row]
    if before is None or now is None:
        return False
    return any(event.kind == "rescue" and before <= (event.time or 0) <= now for event in run.events)
