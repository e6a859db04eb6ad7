"""One run as the dashboard shows it, a value of one moment."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import polars as pl

from klinic.dashboards.figures.memory import Memory
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.store.remembered import Origin
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.run import Run
from klinic.diagnostics.run.state import UNKNOWN, seconds_per_step
from klinic.diagnostics.run.state import state as state_of
from klinic.diagnostics.verlconfig.casts import whole

Standing = Literal["waiting", "read", "broken", "judged"]
LIVE_S, LIVE_STEPS = 60.0, 10  # a log without a manifest is live until it was silent for the longer of these


@dataclass(frozen=True)
class Entry:
    """A run or the reason why there is none.

    id: stable name for links, unique in a dashboard. listed: the path under which its files are found.
    epoch: grows whenever rows before the last ones may have changed, so that a page must draw anew.
    version: grows with every change. grew: when its files last grew.
    memory: what was evaluated of these rows; an epoch has its own.
    stamp, born: place of its last change and of its first one among all changes on the shelf.
    origin: what it was read from, where that holds no other run.
    was, turned: the verdict before this one and when that ended, "" and 0.0 where the verdict never changed.
    """

    id: str
    path: str
    listed: str = ""
    run: Run | None = None
    diagnosis: Diagnosis | None = None
    problem: str = ""
    version: int = 0
    epoch: int = 0
    grew: float = 0.0
    watched: bool = False
    stamp: int = 0
    born: int = 0
    was: str = ""
    turned: float = 0.0
    origin: Origin | None = field(default=None, compare=False, repr=False)
    memory: Memory = field(default_factory=Memory, compare=False, repr=False)

    @property
    def standing(self) -> Standing:
        """waiting: not yet read; read: not yet judged; broken: it cannot be read or judged; judged."""
        if self.problem and self.diagnosis is None:
            return "broken"
        if self.diagnosis is not None:
            return "judged"
        return "waiting" if self.run is None else "read"

    @cached_property
    def scene(self) -> Scene | None:
        """What pictures are made of; a run that is not yet judged has its lines, without what the judge saw."""
        if self.run is None or self.standing == "broken":
            return None
        return Scene(self.run, self.diagnosis, self.memory)

    @cached_property
    def pace(self) -> float | None:
        """Seconds a step, None where the log does not tell."""
        return _pace(self.run) if self.run is not None else None

    def state(self, now: float | None = None) -> str:
        """running, stalled, interrupted, finished, failed, stopped, or "" where nothing tells."""
        if self.run is None:
            return ""
        now = time.time() if now is None else now
        told = state_of(self.run, now)
        if told != UNKNOWN:
            return told
        if any(event.kind == "finished" for event in self.run.events):
            return "finished"
        if now - self.grew <= max(LIVE_S, LIVE_STEPS * (self.pace or 0)):
            return "running"
        return "stalled" if self.watched else ""

    def silence(self, now: float | None = None) -> float | None:
        """Seconds since the last step was written."""
        if self.run is None or not self.run.frame.height:
            return None
        since = self._dated or self.grew
        return max((time.time() if now is None else now) - since, 0.0) if since else None

    @cached_property
    def _dated(self) -> float:
        """When the log says that its last step was, 0.0 where it does not."""
        last = self.run.frame["time"].max() if self.run else None
        return float(last) if isinstance(last, int | float) else 0.0

    @cached_property
    def total(self) -> int | None:
        """Steps that the run is going to take, where its config says it."""
        return whole(self.run.config.get("trainer.total_training_steps")) if self.run else None


def _pace(run: Run) -> float | None:
    """The logged step time where there is one, else the time between rows."""
    for name in ("timing_s/step", "perf/time_per_step"):
        if run.has(name):
            median = run.frame[name].drop_nulls().tail(20).cast(pl.Float64).median()
            if isinstance(median, int | float) and median > 0:
                return float(median)
    return seconds_per_step(run) or None
