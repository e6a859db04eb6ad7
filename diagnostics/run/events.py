"""What a reader reports while it works through bytes; `RunBuilder` turns the sequence into a `Run`.

Readers know formats and nothing else: names are reported as they were written (the builder maps them onto
verl's), values as they were written (the builder sets non-finite ones apart).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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


Event = Row | ConfigRead | Line | Note | Meta | Happened | SampleRead | ManifestRead | InRun
