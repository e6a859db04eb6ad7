"""Episodes: consecutive rows of an attempt at which a card fires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

    def take(self, row: int, attempt: int, severity: Severity, onset: int | None) -> None:
        """Enter a row: its severity, and the onset of the level that fires."""
        if self.open is not None and (not severity or self.open.attempt != attempt):
            self.close()
        if not severity:
            return
        if self.open is None:
            first = row if onset is None else onset
            self.open = Episode(attempt, first, row, row, severity, row, severity)
            return
        self.open = self._continued(self.open, row, severity)

    @staticmethod
    def _continued(open_: Episode, row: int, severity: Severity) -> Episode:
        worse = severity > open_.peak
        return Episode(
            open_.attempt, open_.onset, open_.opened, row, severity if worse else open_.peak,
            row if worse else open_.peaked, severity,
        )  # fmt: skip

    def close(self) -> None:
        """End the open episode."""
        if self.open is not None:
            one = self.open
            self.done.append(
                Episode(one.attempt, one.onset, one.opened, one.last, one.peak, one.peaked, Severity.NONE, closed=True)
            )
        self.open = None

    def all(self) -> Sequence[Episode]:
        """Episodes so far, in order; the last one may be open."""
        return [*self.done, *([self.open] if self.open else [])]
