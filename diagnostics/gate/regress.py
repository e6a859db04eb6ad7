"""Whether a run does worse than a baseline: a band of noise for each metric that has a better direction.

Levels are medians over the last fifth of the steps that all runs share, five at least (evaluations: the last one). The
band reaches from the lowest to the highest level among the baselines, and beyond by the largest of: twice their spread
over the seeds, four times the noise of a level within a run, and a share of the level (a twentieth; of throughput a
fifth). With a single baseline nothing tells the spread over seeds: the share is a tenth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klinic.diagnostics.engine.curves import median_of, noise
from klinic.diagnostics.gate.partings import Floats, Named, is_of_the_machine, shared
from klinic.diagnostics.knowledge import metric
from klinic.diagnostics.signals.node import SPARSE, rank_of

TAIL, LEAST = 0.2, 5
SPREAD, LOUD = 2.0, 4.0
FLOOR = 1e-6  # what float32 leaves of a difference; no level differs by less
MACHINE = ("perf/throughput",)
SHARES = ("share", "probability")  # units of what lies between 0 and 1


@dataclass(frozen=True)
class Level:
    """A metric of the run against the baselines' band. better: higher is better. step: the last one that all share."""

    metric: str
    value: float
    low: float
    high: float
    step: int
    higher: bool
    seeds: int
    healthy: tuple[float | None, float | None] = (None, None)

    @property
    def worse(self) -> bool:
        """Outside the band on the bad side, and outside of what healthy runs show where that is known."""
        low, high = self.healthy
        if low is not None and high is not None and low <= self.value <= high:
            return False
        return self.value < self.low if self.higher else self.value > self.high

    @property
    def better(self) -> bool:
        """Outside the band on the good side."""
        return self.value > self.high if self.higher else self.value < self.low


def compared(run: Named, baselines: Sequence[Named]) -> list[str]:
    """The metrics that have a better direction and are in every run."""
    names = [name for name in run.run.metrics if all(one.run.has(name) for one in baselines)]
    return [name for name in names if name in MACHINE or _directed(name)]


def _directed(name: str) -> bool:
    """Known with a better direction; extremes of a batch and what the machine decides are no level."""
    info = metric(name)
    if info is None or info.direction == "neither" or name.endswith(("/max", "/min")):
        return False
    return not is_of_the_machine(name)


def level(run: Named, baselines: Sequence[Named], name: str) -> Level | None:
    """The run's level and the band; None where the runs share no step with a value."""
    steps, histories = shared([one.run for one in (run, *baselines)], name)
    if not len(steps):
        return None
    width = 1 if rank_of(name) == SPARSE else min(len(steps), max(LEAST, math.ceil(TAIL * len(steps))))
    own, *others = [median_of(values[-width:]) for values in histories]
    margin = _margin(name, others, histories, width)
    info = metric(name)
    higher = info is None or info.direction != "lower_is_better"
    healthy = (info.low, info.high) if info else (None, None)
    low, high = min(others) - margin, max(others) + margin
    if info and _is_share(info.unit, histories):
        low, high = max(low, 0.0), min(high, 1.0)
    return Level(name, own, low, high, int(steps[-1]), higher, len(others), healthy)


def _is_share(unit: str, histories: Sequence[Floats]) -> bool:
    """Whether no value lies outside of 0 and 1: by its unit, or of a reward, such as an accuracy, as far as seen."""
    if unit != "reward":
        return unit in SHARES
    return all(bool(np.all((values >= 0) & (values <= 1))) for values in histories)


def _margin(name: str, others: Sequence[float], histories: Sequence[Floats], width: int) -> float:
    share = 0.2 if name in MACHINE else 0.05 if len(others) > 1 else 0.1
    spread = float(np.std(others, ddof=1)) if len(others) > 1 else 0.0
    loud = max(noise(values) for values in histories[1:]) / math.sqrt(width)
    size = float(np.mean(np.abs(others)))
    return max(SPREAD * spread, LOUD * loud, share * size, FLOOR)
