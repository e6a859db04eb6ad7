"""What a reader reports while it works through bytes; `RunBuilder` turns the sequence into a `Run`.

Readers know formats and nothing else: names are reported as they were written (the builder maps them onto
verl's), values as they were written (the builder sets non-finite ones apart).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Row:
    """One group of metrics of one step.

    step: the step as written, or None where the format has none (rows are then counted from 1).
    values: name as written -> number, a NaN or an infinity included; None for a JSON null.
    time: seconds since the epoch, None where unknown.
    decimals: digits after the point that the source printed, for metrics printed with a fixed number of them.
    line: 1-based line (or record) number in the source.
    nulls_are_nan: this format writes a non-finite value as null and never a null for "not logged".
    """

    values: Mapping[str, float | None]
    step: int | None = None
    time: float | None = None
    decimals: Mapping[str, int] = field(default_factory=dict)
    line: int | None = None
    nulls_are_nan: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Many rows at once, as a reader's quick way gives them; means the same as its `rows()` one by one.

    names: names as written. steps: int64, a row each. values: float64, rows x names, NaN where a row lacks a metric
    or has no finite value for it. codes: (row, place of the name) -> code of such a value (`run.model`), a JSON null
    included.
    times: float64, seconds since the epoch, NaN where unknown; None where all are. line: number of the last line.
    """

    names: Sequence[str]
    steps: np.ndarray
    values: np.ndarray
    times: np.ndarray | None = None
    codes: Mapping[tuple[int, int], int] = field(default_factory=dict)
    line: int | None = None

    def __deepcopy__(self, _: dict[int, Any]) -> Block:
        return self  # nothing in it is ever changed

    def holds(self, place: int) -> np.ndarray:
        """Which rows have a value of the metric at a place, finite or not."""
        held: np.ndarray = self.values[:, place] == self.values[:, place]
        for at, marked in self.codes:
            held[at] |= marked == place
        return held

    def head(self, count: int) -> Block:
        """Its first rows."""
        if count == len(self.steps):
            return self
        codes = {place: code for place, code in self.codes.items() if place[0] < count}
        times = None if self.times is None else self.times[:count]
        return Block(self.names, self.steps[:count], self.values[:count], times, codes, self.line)

    def tail(self, start: int) -> Block:
        """Its rows from one on."""
        codes = {(at - start, place): code for (at, place), code in self.codes.items() if at >= start}
        times = None if self.times is None else self.times[start:]
        return Block(self.names, self.steps[start:], self.values[start:], times, codes, self.line)

    @staticmethod
    def joined(blocks: Sequence[Block]) -> Block:
        """The rows of several blocks of the same names, in order."""
        import numpy as np

        if len(blocks) == 1:
            return blocks[0]
        starts = np.cumsum([0, *(len(block.steps) for block in blocks)]).tolist()
        parts = zip(starts, blocks, strict=False)
        codes = {(at + start, place): code for start, block in parts for (at, place), code in block.codes.items()}
        steps = np.concatenate([block.steps for block in blocks])
        values = np.empty((len(blocks[0].names), len(steps))).T  # by column, as what is made of them will be
        np.concatenate([block.values for block in blocks], out=values)
        timed = any(block.times is not None for block in blocks)
        known = [np.full(len(block.steps), np.nan) if block.times is None else block.times for block in blocks]
        times = np.concatenate(known) if timed else None
        return Block(blocks[0].names, steps, values, times, codes, blocks[-1].line)

    def row(self, at: int) -> Row:
        """One of its rows."""
        values: dict[str, float | None] = {}
        for place, value in enumerate(self.values[at].tolist()):
            code = self.codes.get((at, place)) if value != value else None
            if code is not None:
                values[self.names[place]] = _VALUE_OF[code]
            elif value == value:
                values[self.names[place]] = value
        time = None if self.times is None or math.isnan(self.times[at]) else float(self.times[at])
        return Row(values, int(self.steps[at]), time, line=self.line, nulls_are_nan=True)

    def rows(self) -> Iterator[Row]:
        """Its rows in order."""
        return (self.row(at) for at in range(len(self.steps)))


_VALUE_OF: dict[int, float | None] = {1: math.nan, 2: math.inf, 3: -math.inf, 4: None}


@dataclass(frozen=True, slots=True)
class ConfigRead:
    """Config values found in the source: flat dotted keys -> values; `user` when a person wrote these very keys."""

    values: Mapping[str, Any]
    user: bool
    where: str


@dataclass(frozen=True, slots=True)
class Line:
    """A text line that holds no metrics, without terminal codes and Ray prefix; incident cards read them.

    source: the process that Ray's prefix named, so that interleaved tracebacks can be told apart.
    """

    text: str
    line: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark for the user about the reading itself, e.g. lines that were cut or skipped."""

    text: str


@dataclass(frozen=True, slots=True)
class Meta:
    """What the source says about its writer; the last non-empty word wins."""

    framework: str = ""
    version: str = ""
    not_rl: str = ""  # why this is a log of something else, e.g. "supervised fine-tuning (train/loss only)"


@dataclass(frozen=True, slots=True)
class Happened:
    """Something at a step: started, resumed, checkpoint, validation, reward swapped, stop, finished, ..."""

    kind: str
    step: int | None = None
    time: float | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SampleRead:
    """A scored validation sample: keys step, prompt, response, ground_truth, score."""

    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ManifestRead:
    """The content of `run.json` as written."""

    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InRun:
    """The events that follow belong to the run of this name; a source that holds one run never reports it."""

    name: str


Event = Row | Block | ConfigRead | Line | Note | Meta | Happened | SampleRead | ManifestRead | InRun


def one_by_one(events: Iterable[Event]) -> Iterator[Event]:
    """The events with each block as its rows."""
    for event in events:
        if isinstance(event, Block):
            yield from event.rows()
        else:
            yield event
