"""From a card's level at each row to episodes, and from episodes to the severity at the last step.

A closed episode that did not repeat and left the outcome within noise of where it was is information, its peak
noted; one that repeats, is still open or cost some of the outcome keeps its weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from klinic.diagnostics.engine.curves import noise
from klinic.diagnostics.engine.model import Severity

AROUND = 5  # values of the outcome compared before and after an episode


@dataclass(frozen=True)
class Episode:
    """Rows [first, last] at which a card held, its worst level, and whether it held no longer afterwards."""

    first: int
    last: int
    peak: Severity
    closed: bool


@dataclass(frozen=True)
class Outcome:
    """The run's outcome: rows that have a value of it, the values (larger is better), and one value's error."""

    rows: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    error: float = 0.0

    def held(self, episode: Episode) -> bool:
        """Whether the outcome after an episode is within noise of where it was before, or above.

        An episode from the first value on is held against the outcome's first values.
        """
        before = [v for row, v in zip(self.rows, self.values, strict=True) if row < episode.first]
        after = [v for row, v in zip(self.rows, self.values, strict=True) if row > episode.last]
        if not self.values or not after:
            return True
        was = median(before[-AROUND:] or self.values[:AROUND])
        return median(after[-AROUND:]) >= was - max(3 * self.error, 3 * noise(self.values), 0.1 * abs(was))


def episodes(levels: Sequence[Severity | None]) -> list[Episode]:
    """Stretches at which a card held; a row at which it could not judge (None) neither opens nor closes one."""
    found: list[Episode] = []
    first = last = -1
    peak = Severity.NONE
    for row, level in enumerate(levels):
        if level:
            first, last, peak = (row if peak is Severity.NONE else first), row, max(peak, level)
        elif level is Severity.NONE and peak:
            found.append(Episode(first, last, peak, closed=True))
            peak = Severity.NONE
    return [*found, Episode(first, last, peak, closed=False)] if peak else found


def severity_now(found: Sequence[Episode], levels: Sequence[Severity | None], outcome: Outcome) -> Severity:
    """Severity of a card's finding at the last row judged."""
    latest = found[-1]
    past = [episode for episode in found if episode.closed]
    weight = Severity.NONE
    if len(found) > 1 or not all(outcome.held(episode) for episode in past):
        weight = max((episode.peak for episode in past), default=Severity.NONE)
    if not latest.closed:
        weight = max(weight, _current(levels))
    return max(weight, Severity.INFO)


def _current(levels: Sequence[Severity | None]) -> Severity:
    return next((level for level in reversed(levels) if level is not None), Severity.NONE)
