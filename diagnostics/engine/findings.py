"""Findings from episodes, with the comparisons that made the card fire as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.episodes import Episode
from klinic.diagnostics.engine.evidence import CardEvidence
from klinic.diagnostics.engine.model import Finding, Severity

Steps = npt.NDArray[np.int64]


Changes = Sequence[tuple[int, int]]


def findings_of(
    witness: CardEvidence, episodes: Sequence[Episode], changes: Changes, steps: Steps, attempt: int
) -> tuple[Finding, ...]:
    """One finding for each attempt in which the card fired; `attempt` is the one that is running now.

    changes: (row, severity from that row on). steps: of every row.
    """
    grouped = groupby(episodes, key=lambda episode: episode.attempt)
    return tuple(_finding(witness, list(some), changes, steps, current=number == attempt) for number, some in grouped)


def _finding(
    witness: CardEvidence, episodes: list[Episode], changes: Changes, steps: Steps, *, current: bool
) -> Finding:
    card: Card = witness.compiled.card
    first, last = episodes[0], episodes[-1]
    warned = _warned(card, episodes, changes)
    return Finding(
        id=card.id, name=card.name, severity=last.severity, peak=max(one.peak for one in episodes),
        confidence=card.confidence, first_step=int(steps[first.onset]), last_step=int(steps[last.last]),
        attempt=first.attempt, closed=last.closed or not current, message=card.text("summary"), why=card.text("why"),
        evidence=witness.evidence(first.attempt),
        episodes=_spans(episodes, steps),
        warned=None if warned is None else int(steps[warned]), wrong_when=card.text("wrong_when"),
        family=card.family, panel=card.panel,
    )  # fmt: skip


def _warned(card: Card, episodes: list[Episode], changes: Changes) -> int | None:
    """The first row of what made the card warn: as many rows back as its level asks for."""
    first, last = episodes[0], episodes[-1]
    loud = ((row, weight) for row, weight in changes if first.opened <= row <= last.last and weight >= Severity.WARN)
    row, weight = next(loud, (None, 0))
    patience = next((level.k for level in card.levels if level.severity == weight), 1)
    return None if row is None else max(row - patience + 1, first.onset)


def _spans(episodes: Sequence[Episode], steps: Steps) -> tuple[tuple[int, int], ...]:
    """First and last steps of episodes; all looked up at once, as a run may have thousands of them."""
    first, last = (steps[rows].tolist() for rows in ([one.onset for one in episodes], [one.last for one in episodes]))
    return tuple(zip(first, last, strict=True))
