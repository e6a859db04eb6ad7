"""One card while rows arrive: its levels' truth, its patience, its episodes, what made it fire."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.engine.compiled import CompiledCard
from klinic.diagnostics.engine.episodes import Episode, EpisodeBook
from klinic.diagnostics.engine.patience import NOWHERE, Patience
from klinic.diagnostics.engine.witness import View, Witness
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Block
from klinic.diagnostics.signals.block import Floats, Mask

Severities = npt.NDArray[np.int8]
_UNKNOWN = np.full(1, np.nan)


class CardState:
    """One card while rows arrive. changes: (row, severity from that row on), in order."""

    def __init__(self, compiled: CompiledCard) -> None:
        self.compiled = compiled
        self.patience = [Patience(level.level.k, level.level.of) for level in compiled.levels]
        self.book = EpisodeBook()
        self.witness = Witness(compiled)
        self.changes: list[tuple[int, int]] = []
        self.judged = False  # some row was known
        self.applied: bool | None = None  # what `applies` last said
        self._lacking = list(compiled.card.needs)
        self._stirred = False  # a level held in the last block

    def fork(self) -> CardState:
        """A state that stands where this one does and goes its own way from here."""
        other = copy(self)
        other.patience = [patience.fork() for patience in self.patience]
        other.book = self.book.fork()
        other.changes, other._lacking = self.changes.copy(), self._lacking.copy()
        return other

    def wanted(self, run: Run) -> bool:
        """Whether the run has a metric for everything that the card needs: only then can it judge."""
        return all(_named(need, run) for need in self._lacking)

    def take(self, view: View, validated: Mask, last: int) -> None:
        """Judge the block's rows. `last`: the attempt of the row before."""
        truths = self._truth(view, validated) if view.block.height == 1 else self._truths(view, validated)
        idle = all(patience.idle for patience in self.patience)
        if idle and not (self._stirred and any((truth == 1).any() for truth in truths)):
            return  # rows that are not true leave it as it is
        known = len(self.book.done)
        self._count(view.block, truths, last)
        episodes: list[Episode] = [*self.book.done[known:], *([self.book.open] if self.book.open else [])]
        self.witness = self.witness.after(view, episodes) if episodes else self.witness

    def carry(self, view: View) -> None:
        """Keep what a later block may want to know of the last one."""
        if self._stirred:
            self.witness = self.witness.carried(view)

    def _truths(self, view: View, validated: Mask) -> list[Floats]:
        height = view.block.height
        able, truths, self._stirred = self._able(view), [], False
        for level in self.compiled.levels:
            stream = view.evaluator.stream(level.node)
            values = stream.array(height)
            counts = stream.known(height) & able
            if level.level.unit == "evals":
                counts = counts & validated
            truths.append(np.where(counts, values, np.nan))
            self.judged = self.judged or bool(counts.any())
            self._stirred = self._stirred or bool((values == 1).any())
        return truths

    def _truth(self, view: View, validated: Mask) -> list[Floats]:
        """The same over a single row."""
        able, truths, self._stirred = self._able(view)[0], [], False
        for level in self.compiled.levels:
            stream = view.evaluator.stream(level.node)
            counts = able and stream.is_known and (level.level.unit != "evals" or validated[0])
            number = stream.number
            truths.append(np.array([number]) if counts else _UNKNOWN)
            self.judged = self.judged or bool(counts)
            self._stirred = self._stirred or number == 1
        return truths

    def _able(self, view: View) -> Mask:
        """Rows at which the card applies and has what it needs."""
        able = self.supplied(view.block)
        if self.compiled.applies is None:
            return able
        applies = view.array(self.compiled.applies)
        self.applied = None if np.isnan(applies[-1]) else bool(applies[-1])
        return np.asarray(able & (applies == 1))

    def supplied(self, block: Block) -> Mask:
        """Rows at which everything that the card needs has been there."""
        supplied = np.ones(block.height, np.bool_)
        for need in tuple(self._lacking):
            seen = _appeared(need, block)
            supplied = supplied & seen
            if seen[-1]:
                self._lacking.remove(need)
        return supplied

    def _count(self, block: Block, truths: list[Floats], last: int) -> None:
        """Severity of each row, attempt by attempt."""
        attempts = np.asarray(block.attempts)
        cuts = [0, *(np.flatnonzero(np.diff(attempts)) + 1).tolist(), block.height]
        for start, end in pairwise(cuts):
            attempt = int(attempts[start])
            if attempt != last:
                for patience in self.patience:
                    patience.reset()
            last = attempt
            severities, onsets = self._stretch(block.first + start, [truth[start:end] for truth in truths])
            self.book.take(block.first + start, attempt, severities, onsets)
            self._note(block.first + start, severities)

    def _note(self, first: int, severities: Severities) -> None:
        """Keep the rows at which the severity changes."""
        before = self.changes[-1][1] if self.changes else 0
        at = np.flatnonzero(np.diff(severities, prepend=np.int8(before)))
        self.changes += zip((at + first).tolist(), severities[at].tolist(), strict=True)

    def _stretch(self, first: int, truths: list[Floats]) -> tuple[Severities, npt.NDArray[np.int64]]:
        """Severity and onset of the highest level that fires at each row of a stretch of one attempt."""
        severities = np.zeros(len(truths[0]), np.int8)
        onsets = np.full(len(severities), NOWHERE, np.int64)
        for level, patience, truth in reversed(list(zip(self.compiled.levels, self.patience, truths, strict=True))):
            firing, since = patience.take(first, truth)
            severities[firing] = level.severity
            onsets = np.where(firing, since, onsets)
        return severities, onsets

    def missing(self) -> str:
        """What the card lacked, in words."""
        if self._lacking:
            return ", ".join(self._lacking)
        if self.compiled.applies is not None and not self.applied:
            verb = "unknown whether" if self.applied is None else "judged only where"
            return f"{verb} {self.compiled.card.applies}"
        return "too few values"


def unfolded(changes: Sequence[tuple[int, int]], rows: int) -> Severities:
    """The severity at each row."""
    severities = np.zeros(rows, np.int8)
    for (start, severity), (end, _) in pairwise([*changes, (rows, 0)]):
        severities[start:end] = severity
    return severities


@lru_cache(maxsize=1024)
def _alternatives(need: str, metrics: tuple[str, ...]) -> tuple[str, ...]:
    """The metrics that `a | b` names; of a pattern those that the run has."""
    wanted = [part.strip() for part in need.split("|")]
    return tuple(name for want in wanted for name in (fnmatch.filter(metrics, want) if "*" in want else [want]))


def _named(need: str, run: Run) -> bool:
    return any(map(run.has, _alternatives(need, run.metrics)))


def _appeared(need: str, block: Block) -> Mask:
    """From which row of the block on one of the metrics of `a | b` has been there."""
    seen = np.zeros(block.height, np.bool_)
    for name in _alternatives(need, block.run.metrics):
        seen = seen | block.seen(name)
    return np.logical_or.accumulate(seen)
