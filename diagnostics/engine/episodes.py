"""Episodes: consecutive rows of an attempt at which a card fires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.engine.model import Severity


@dataclass(frozen=True)
class Episode:
    """Rows [opened, last] of one attempt at which a card fired, without a break.

    onset: first row of the k-of-n window that fired. peak: worst severity; peaked: first row at that severity.
    closed: it no longer held at a later row of the attempt, or the attempt has ended.
    """

    attempt: int
    onset: int
    opened: int
    last: int
    peak: Severity
    peaked: int
    severity: Severity
    closed: bool = False


class EpisodeBook:
    """Keeps the episodes of one card while rows arrive."""

    def __init__(self) -> None:
        self.done: list[Episode] = []
        self.open: Episode | None = None

    def fork(self) -> EpisodeBook:
        """A book that goes its own way from here."""
        other = EpisodeBook()
        other.done, other.open = self.done.copy(), self.open
        return other

    def take(self, first: int, attempt: int, severities: npt.NDArray[np.int8], onsets: npt.NDArray[np.int64]) -> None:
        """Enter rows of one attempt from `first` on: the severity of each, and the onset of the level that fires."""
        if self.open is not None and (not severities[0] or self.open.attempt != attempt):
            self.close()
        padded = np.concatenate([[0], severities > 0, [0]])
        edges = np.flatnonzero(np.diff(padded))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            self._stretch(first + start, attempt, severities[start:end], int(onsets[start]))
            if end < len(severities):
                self.close()

    def take_one(self, row: int, attempt: int, severity: Severity, onset: int) -> None:
        """Enter a single row."""
        if self.open is not None and (not severity or self.open.attempt != attempt):
            self.close()
        if severity:
            self._go_on(row, row, attempt, (severity, row), severity, onset)

    def _stretch(self, row: int, attempt: int, severities: npt.NDArray[np.int8], onset: int) -> None:
        worst = int(np.argmax(severities))
        worse = Severity(int(severities[worst])), row + worst
        self._go_on(row, row + len(severities) - 1, attempt, worse, Severity(int(severities[-1])), onset)

    def _go_on(self, row: int, last: int, attempt: int, worst: tuple[Severity, int], now: Severity, onset: int) -> None:
        """Rows without a break at which the card fires: they go on with the open episode, or begin one."""
        peak, peaked = worst
        if self.open is None:
            self.open = Episode(attempt, onset, row, last, peak, peaked, now)
        elif peak > self.open.peak:
            self.open = replace(self.open, last=last, severity=now, peak=peak, peaked=peaked)
        else:
            self.open = replace(self.open, last=last, severity=now)

    def close(self) -> None:
        """End the open episode."""
        if self.open is not None:
            self.done.append(replace(self.open, severity=Severity.NONE, closed=True))
        self.open = None

    def all(self) -> Sequence[Episode]:
        """Episodes so far, in order; the last one may be open."""
        return [*self.done, *([self.open] if self.open else [])]
