"""How long each wait may last; what is said when it lasted too long."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from klinic.diagnostics.durations import in_words
from klinic.trainer.launch.progress import Progress

UNSCHEDULED = ("cannot be scheduled right now", "No available node types can fulfill resource request")
LEAST_FREE = 64 * 2**20  # bytes


@dataclass
class Limits:
    """startup: seconds to the first step or validation; silence: seconds of start-up without a word in the console.

    A training step may take `patience` times the usual one, at least `least` seconds.
    """

    startup: float = 600.0
    silence: float = 180.0
    patience: float = 20.0
    least: float = 300.0

    @classmethod
    def usual(cls, cpu: bool, startup: float | None = None) -> Self:
        """Of a launch on a CPU, or on GPUs, whose engines take their time to start. startup: in place of the usual."""
        return cls(startup or (600.0 if cpu else 2400.0), 180.0 if cpu else 900.0)


class Watchdog:
    """Tells, in one line, when a launch will not get anywhere any more."""

    def __init__(self, limits: Limits, console: Path) -> None:
        self.limits = limits
        self._console = console
        self._size = -1
        self._grew = time.monotonic()
        self._unscheduled: float | None = None

    def heard(self, line: str) -> None:
        """Look at a line of the console."""
        if any(text in line for text in UNSCHEDULED) and self._unscheduled is None:
            self._unscheduled = time.monotonic()

    def verdict(self, progress: Progress) -> str:
        """Why the launch is given up, empty while there is hope."""
        now = time.monotonic()
        return self._disk() or (self._train(progress, now) if progress.training else self._init(progress, now))

    def _disk(self) -> str:
        free = shutil.disk_usage(self._console.parent).free
        if free >= LEAST_FREE:
            return ""
        return f"the disk of {self._console.parent} is full ({free // 2**20} MB left); free space, then resume the run"

    def _init(self, progress: Progress, now: float) -> str:
        size = self._console.stat().st_size if self._console.exists() else 0
        if size != self._size:
            self._size, self._grew = size, now
        if self._unscheduled and now - self._unscheduled > 30:
            return "Ray has too few CPUs or GPUs for verl's actors; raise ray_kwargs.ray_init.num_cpus (or free a GPU)"
        if now - max(progress.began, progress.moved) > self.limits.startup:
            return f"no step after {in_words(self.limits.startup)}; console.log shows how far it came"
        if now - max(self._grew, progress.moved) > self.limits.silence:
            return (
                f"silent for {in_words(self.limits.silence)} during start-up, as with too few logical CPUs for Ray's "
                "actors (ray_kwargs.ray_init.num_cpus); console.log shows how far it came"
            )
        return ""

    def _train(self, progress: Progress, now: float) -> str:
        allowed = max(self.limits.least, self.limits.patience * progress.typical)
        if now - progress.moved <= allowed:
            return ""
        return f"no step for {in_words(now - progress.moved)} after step {progress.step}: a worker hangs or is dead"
