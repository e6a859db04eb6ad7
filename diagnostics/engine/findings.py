"""Findings from episodes, with the comparisons that made the card fire as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.episodes import Episode
from klinic.diagnostics.engine.model import Finding
from klinic.diagnostics.engine.witness import Witness

Steps = npt.NDArray[np.int64]


def findings_of(witness: Witness, episodes: Sequence[Episode], steps: Steps, attempt: int) -> tuple[Finding, ...]:
    """One finding for each attempt in which the card fired; `attempt` is the one that is running now.

    steps: of every row.
    """
    grouped = groupby(episodes, key=lambda episode: episode.attempt)
    return tuple(_finding(witness, list(some), steps, current=number == attempt) for number, some in grouped)


def _finding(witness: Witness, episodes: list[Episode], steps: Steps, *, current: bool) -> Finding:
    card: Card = witness.compiled.card
    first, last = episodes[0], episodes[-1]
    return Finding(
        id=card.id, name=card.name, severity=last.severity, peak=max(one.peak for one in episodes),
        confidence=card.confidence, first_step=int(steps[first.onset]), last_step=int(steps[last.last]),
        attempt=first.attempt, closed=last.closed or not current, message=card.text("summary"), why=card.text("why"),
        evidence=witness.evidence(first.attempt),
        episodes=tuple((int(steps[one.onset]), int(steps[one.last])) for one in episodes),
        family=card.family, panel=card.panel,
    )  # fmt: skip
