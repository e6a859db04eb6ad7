"""What part of a run is looked at, and how."""

from __future__ import annotations

from dataclasses import dataclass

from klinic.dashboards.figures.arrays import POINTS


@dataclass(frozen=True)
class View:
    """What part of the run is looked at and how: steps, the finding picked, smoothing in steps, log scale."""

    first: float | None = None
    last: float | None = None
    finding: str | None = None
    span: int = 0
    log: bool = False
    points: int = POINTS

    @property
    def window(self) -> tuple[float, float] | None:
        """The steps shown, None for all."""
        return (self.first, self.last) if self.first is not None and self.last is not None else None
