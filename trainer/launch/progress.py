"""Where a run stands: phase, step, metrics, validations, and how long it will still take."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import Any

INIT, TRAIN, VAL, DONE = "Init", "Train", "Val", "Done"


@dataclass
class Progress:
    """What the launcher knows of the run.

    total: planned steps, 0 where unknown. data: the last step's metrics. seconds: durations of the last steps.
    validations: (step, metrics) in order. health: words of the diagnosis for the progress line.
    """

    total: int = 0
    phase: str = INIT
    step: int = 0
    data: dict[str, Any] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    validations: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    health: str = ""
    began: float = field(default_factory=time.monotonic)
    moved: float = field(default_factory=time.monotonic)

    @property
    def training(self) -> bool:
        """Whether a step of this launch is on record."""
        return bool(self.seconds)

    def take_step(self, record: dict[str, Any]) -> bool:
        """Take a line of metrics.jsonl; True where it is one of a training step."""
        data = record.get("data")
        if not isinstance(data, dict):
            return False
        self.moved = time.monotonic()
        duration = data.get("timing_s/step")
        if not isinstance(duration, int | float):
            return False
        self.phase, self.step, self.data = TRAIN, int(record.get("step") or 0), data
        self.seconds = [*self.seconds, float(duration)][-20:]
        return True

    def take_validation(self, event: dict[str, Any]) -> None:
        """Take a validation event."""
        self.moved = time.monotonic()
        scores = {name: value for name, value in (event.get("data") or {}).items() if isinstance(value, int | float)}
        self.validations.append((int(event.get("step") or 0), scores))

    @property
    def typical(self) -> float:
        """Seconds of a usual step, 0 before the first."""
        return statistics.median(self.seconds) if self.seconds else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until the last planned step, None where it cannot be told."""
        if not self.total or not self.seconds:
            return None
        return max(0, self.total - self.step) * self.typical
