"""One card while rows arrive: its levels' truth, its patience, its episodes."""

from __future__ import annotations

import fnmatch
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.engine.compiled import CompiledCard
from klinic.diagnostics.engine.episodes import EpisodeBook
from klinic.diagnostics.engine.patience import NOWHERE, Patience
from klinic.diagnostics.signals import Block, Evaluator
from klinic.diagnostics.signals.block import Floats, Mask


class CardState:
    """One card while rows arrive."""

    def __init__(self, compiled: CompiledCard) -> None:
        self.compiled = compiled
        self.patience = [Patience(level.level.k, level.level.of) for level in compiled.levels]
        self.book = EpisodeBook()
        self.severities: list[npt.NDArray[np.int8]] = []
        self.appeared: set[str] = set()
        self.judged = False  # some row was known
        self.applied: bool | None = None  # what `applies` last said

    def take(self, block: Block, evaluator: Evaluator, validated: Mask, last: int) -> None:
        """Judge the block's rows. `last`: the attempt of the row before."""
        truths = self._truths(block, evaluator, validated)
        if all(patience.idle for patience in self.patience) and not any((truth == 1).any() for truth in truths):
            self.severities.append(np.zeros(block.height, np.int8))
        else:
            self.severities.append(self._count(block, truths, last))

    def _truths(self, block: Block, evaluator: Evaluator, validated: Mask) -> list[Floats]:
        able = self._able(block, evaluator)
        truths = []
        for level in self.compiled.levels:
            stream = evaluator.stream(level.node)
            counts = stream.known(block.height) & able
            if level.level.unit == "evals":
                counts = counts & validated
            truths.append(np.where(counts, stream.array(block.height), np.nan))
            self.judged = self.judged or bool(counts.any())
        return truths

    def _able(self, block: Block, evaluator: Evaluator) -> Mask:
        """Rows at which the card applies and has what it needs."""
        able = self._supplied(block)
        if self.compiled.applies is None:
            return able
        applies = evaluator.stream(self.compiled.applies).array(block.height)
        self.applied = None if np.isnan(applies[-1]) else bool(applies[-1])
        return np.asarray(able & (applies == 1))

    def _supplied(self, block: Block) -> Mask:
        supplied = np.ones(block.height, np.bool_)
        for need in self.compiled.card.needs:
            if need in self.appeared:
                continue
            seen = _appeared(need, block)
            supplied = supplied & seen
            if seen[-1]:
                self.appeared.add(need)
        return supplied

    def _count(self, block: Block, truths: list[Floats], last: int) -> npt.NDArray[np.int8]:
        """Severity of each row, attempt by attempt."""
        attempts = np.asarray(block.attempts)
        cuts = [0, *(np.flatnonzero(np.diff(attempts)) + 1).tolist(), block.height]
        parts = []
        for start, end in pairwise(cuts):
            attempt = int(attempts[start])
            if attempt != last:
                for patience in self.patience:
                    patience.reset()
            last = attempt
            severities, onsets = self._stretch(block.first + start, [truth[start:end] for truth in truths])
            self.book.take(block.first + start, attempt, severities, onsets)
            parts.append(severities)
        return np.concatenate(parts)

    def _stretch(self, first: int, truths: list[Floats]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
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
        lacking = [need for need in self.compiled.card.needs if need not in self.appeared]
        if lacking:
            return ", ".join(lacking)
        if self.compiled.applies is not None and not self.applied:
            verb = "unknown whether" if self.applied is None else "judged only where"
            return f"{verb} {self.compiled.card.applies}"
        return "too few values"


def _appeared(need: str, block: Block) -> Mask:
    """From which row of the block on one of the metrics of `a | b` has been there."""
    seen = np.zeros(block.height, np.bool_)
    for pattern in (part.strip() for part in need.split("|")):
        for name in fnmatch.filter(block.run.metrics, pattern) if "*" in pattern else [pattern]:
            seen = seen | block.seen(name)
    return np.logical_or.accumulate(seen)
