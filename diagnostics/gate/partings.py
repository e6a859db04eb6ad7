"""Where runs part ways, what they came to, what differs in their configs: comparisons as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.engine.curves import noise
from klinic.diagnostics.knowledge import metric
from klinic.diagnostics.run import Run

Floats = npt.NDArray[np.float64]
Steps = npt.NDArray[np.int64]
FAR, HELD, OF = 4.0, 4, 5  # beyond 4 x the noise at 4 of 5 shared steps
LEAST = 8  # shared steps without which nothing is said
CLOCKS = ("timing", "perf/", "training/global_step")


@dataclass(frozen=True)
class Named:
    """A run under the name by which it is compared."""

    name: str
    run: Run


@dataclass(frozen=True)
class Parting:
    """A metric of which two runs went apart at a step, with both values there."""

    metric: str
    step: int
    run: str
    value: float
    other: str
    other_value: float


@dataclass(frozen=True)
class Ends:
    """A metric's last and best value a run; None where a run lacks it."""

    metric: str
    final: tuple[float | None, ...]
    best: tuple[float | None, ...]


def partings(runs: Sequence[Named]) -> list[Parting]:
    """For each metric that the first run shares with another one, the first step where they part; by step."""
    found: list[Parting] = []
    for other in runs[1:]:
        both = [name for name in runs[0].run.metrics if other.run.has(name)]
        found += [parting for name in both if (parting := _parting(runs[0], other, name))]
    first: dict[str, Parting] = {}
    for one in sorted(found, key=lambda parting: (parting.step, parting.metric)):
        first.setdefault(one.metric, one)
    return list(first.values())


def is_of_the_machine(name: str) -> bool:
    """Whether the machine rather than the training decides a metric."""
    return name.startswith(CLOCKS) or "/perf/" in name


def _parting(one: Named, other: Named, name: str) -> Parting | None:
    if is_of_the_machine(name):
        return None
    steps, (a, b) = shared((one.run, other.run), name)
    if len(steps) < LEAST:
        return None
    loud = max(noise(a), noise(b), 1e-3 * float(np.median(np.abs(a))), 1e-12)
    away = np.abs(a - b) > FAR * loud
    held = np.convolve(away, np.ones(OF), "valid") >= HELD
    if not held.any():
        return None
    at = int(np.argmax(held))
    at += int(np.argmax(away[at : at + OF]))
    return Parting(name, int(steps[at]), one.name, float(a[at]), other.name, float(b[at]))


def shared(runs: Sequence[Run], name: str) -> tuple[Steps, list[Floats]]:
    """Steps at which all runs have a value of a metric, in their order, and each run's values there."""
    columns = [latest(run, name) for run in runs]
    steps = columns[0][0]
    if all(np.array_equal(own, steps) for own, _ in columns[1:]):
        return steps, [values for _, values in columns]
    for own, _ in columns[1:]:
        steps = np.intersect1d(steps, own, assume_unique=True)
    return steps, [values[np.searchsorted(own, steps)] for own, values in columns]


def latest(run: Run, name: str) -> tuple[Steps, Floats]:
    """Steps with a value of a metric, ascending, and the values; the latest attempt's where a step was taken twice."""
    known = run.frame.select("step", name).drop_nulls()
    steps, values = known["step"].to_numpy(), known[name].to_numpy()
    if len(steps) > 1 and (np.diff(steps) <= 0).any():
        steps, back = np.unique(steps[::-1], return_index=True)
        values = values[::-1][back]
    return steps, values


def ends(runs: Sequence[Named], names: Sequence[str]) -> list[Ends]:
    """Last and best values; best as far as the metric has a better direction."""
    return [
        Ends(name, tuple(_final(run.run, name) for run in runs), tuple(_best(run.run, name) for run in runs))
        for name in names
    ]


def _finite(run: Run, name: str) -> Floats:
    return run.frame[name].drop_nulls().to_numpy() if run.has(name) else np.empty(0)


def _final(run: Run, name: str) -> float | None:
    values = _finite(run, name)
    return float(values[-1]) if len(values) else None


def _best(run: Run, name: str) -> float | None:
    values, info = _finite(run, name), metric(name)
    if not len(values) or info is None or info.direction == "neither":
        return None
    return float(values.max() if info.direction == "higher_is_better" else values.min())


def config_differences(runs: Sequence[Named]) -> list[tuple[str, tuple[str | None, ...]]]:
    """Keys that some run has with another value, or not at all while a person set it elsewhere."""
    configs = [run.run.config for run in runs]
    keys = sorted({key for config in configs for key in config.values})
    rows = [(key, tuple(_shown(config.values.get(key, _ABSENT)) for config in configs)) for key in keys]
    said = {key for config in configs for key in config.user}
    differs = [(key, values) for key, values in rows if len({value for value in values if value is not None}) > 1]
    apart = {key for key, _ in differs}
    lacking = [(key, values) for key, values in rows if None in values and key in said and key not in apart]
    return sorted(differs + lacking, key=lambda row: (row[0] not in said, row[0]))


_ABSENT = object()


def _shown(value: object) -> str | None:
    if value is _ABSENT:
        return None
    if value is None or isinstance(value, bool):
        return str(value).lower() if value is not None else "null"  # as Hydra takes them
    return f"{value:g}" if isinstance(value, float) else str(value)
