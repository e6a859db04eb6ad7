"""One card while rows arrive: its levels' truth, its patience, its episodes, what made it fire."""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.engine.compiled import CompiledCard
from klinic.diagnostics.engine.episodes import Episode, EpisodeBook
from klinic.diagnostics.engine.evidence import CardEvidence, View
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.patience import NOWHERE, Patience
from klinic.diagnostics.run import Run
from klinic.diagnostics.shallowcopy import shallow_copy
from klinic.diagnostics.signals import Block
from klinic.diagnostics.signals.block import Floats, Mask

Severities = npt.NDArray[np.int8]
_WORD = re.compile(r"\b(?<!['/.])[a-z_]+\b(?!['/(])")
_UNKNOWN, EVERY_ONE = np.full(1, np.nan), np.ones(1, np.bool_)


class Seen(NamedTuple):
    """What a card has met. lacking: what it needs and was not there yet."""

    lacking: tuple[str, ...]
    judged: bool = False  # some row was known
    applied: bool | None = None  # what `applies` last said


class CardState:
    """One card while rows arrive. None is changed by what comes: each row gives the next state, or the same again.

    changes: (row, severity from that row on), in order.
    """

    def __init__(self, compiled: CompiledCard) -> None:
        self.compiled = compiled
        self.patience = [Patience(level.k, level.of) for level in compiled.card.levels]
        self.idle = True  # rows that are not true leave it as it is
        self.book = EpisodeBook()
        self.witness = CardEvidence(compiled)
        self.changes: list[tuple[int, int]] = []
        self.seen = Seen(tuple(compiled.card.needs))

    @property
    def judged(self) -> bool:
        """Whether some row was known."""
        return self.seen.judged

    def _after(self, seen: Seen) -> CardState:
        """This state, but for what was seen."""
        if seen == self.seen:
            return self
        other = shallow_copy(self)
        other.seen = seen
        return other

    def wanted(self, run: Run) -> bool:
        """Whether the run has a metric for everything that the card needs: only then can it judge."""
        return all(_named(need, run) for need in self.seen.lacking)

    def take(self, view: View, validated: Mask, last: int) -> CardState:
        """Judge the block's rows. `last`: the attempt of the row before."""
        alone = view.block.height == 1
        if alone and self.idle and self.seen.judged and not self.seen.lacking and self._untrue(view):
            return self._applied(view)
        reads = self._truth if alone else self._truths
        able, seen = self._able(view)
        truths, judged, stirred = reads(view, validated, able)
        seen = seen._replace(judged=True) if judged and not seen.judged else seen
        state = self._after(seen)
        if self.idle and not (stirred and any((truth == 1).any() for truth in truths)):
            return state
        state = shallow_copy(state)
        state.patience = [patience.fork() for patience in self.patience]
        state.book, state.changes = self.book.fork(), self.changes.copy()
        state._judge(view, truths, last)
        state.idle = all(patience.idle for patience in state.patience)
        return state

    def _untrue(self, view: View) -> bool:
        """Whether no level holds at the single row."""
        stream = view.evaluator.stream
        return not any(stream(level.node).number == 1 for level in self.compiled.levels)

    def _applied(self, view: View) -> CardState:
        """The state after a single row of which nothing counts but whether the card applies."""
        if self.compiled.applies is None:
            return self
        applies = view.evaluator.stream(self.compiled.applies).number
        return self._after(self.seen._replace(applied=None if math.isnan(applies) else bool(applies)))

    def _judge(self, view: View, truths: list[Floats], last: int) -> None:
        known = len(self.book.done)
        self._count(view.block, truths, last)
        episodes: list[Episode] = [*self.book.done[known:], *([self.book.open] if self.book.open else [])]
        self.witness = self.witness.after(view, truths, episodes)

    def _truths(self, view: View, validated: Mask, able: Mask) -> tuple[list[Floats], bool, bool]:
        """Each level's truth where it counts, NaN elsewhere; whether any row counts; whether a level held anywhere."""
        height = view.block.height
        truths, judged, stirred = [], False, False
        for level in self.compiled.levels:
            stream = view.evaluator.stream(level.node)
            values = stream.array(height)
            counts = stream.known(height) & able
            if level.level.unit == "evals":
                counts = counts & validated
            truths.append(np.where(counts, values, np.nan))
            judged = judged or bool(counts.any())
            stirred = stirred or bool((values == 1).any())
        return truths, judged, stirred

    def _truth(self, view: View, validated: Mask, able: Mask) -> tuple[list[Floats], bool, bool]:
        """The same over a single row."""
        truths, judged, stirred = [], False, False
        for level in self.compiled.levels:
            stream = view.evaluator.stream(level.node)
            counts = bool(able[0]) and stream.is_known and (level.level.unit != "evals" or bool(validated[0]))
            number = stream.number
            truths.append(np.array([number]) if counts else _UNKNOWN)
            judged = judged or counts
            stirred = stirred or number == 1
        return truths, judged, stirred

    def _able(self, view: View) -> tuple[Mask, Seen]:
        """Rows at which the card applies and has what it needs."""
        able, seen = self._supplied(view.block)
        if self.compiled.applies is None:
            return able, seen
        applies = view.array(self.compiled.applies)
        applied = None if np.isnan(applies[-1]) else bool(applies[-1])
        return np.asarray(able & (applies == 1)), seen._replace(applied=applied)

    def supplied(self, block: Block) -> CardState:
        """The state after rows that it need not judge, for want of metrics."""
        return self._after(self._supplied(block)[1]) if self.seen.lacking else self

    def _supplied(self, block: Block) -> tuple[Mask, Seen]:
        """Rows at which everything that the card needs has been there."""
        if not self.seen.lacking:
            return EVERY_ONE if block.height == 1 else np.ones(block.height, np.bool_), self.seen
        appeared = {need: _appeared(need, block) for need in self.seen.lacking}
        lacking = tuple(need for need, rows in appeared.items() if not rows[-1])
        return np.logical_and.reduce(list(appeared.values())), self.seen._replace(lacking=lacking)

    def _count(self, block: Block, truths: list[Floats], last: int) -> None:
        """Severity of each row, attempt by attempt."""
        if block.height == 1:
            self._count_one(block.first, block.attempts[0], truths, last)
            return
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

    def _count_one(self, row: int, attempt: int, truths: list[Floats], last: int) -> None:
        """The same of a single row."""
        severity, onset = Severity.NONE, NOWHERE
        for level, patience, truth in zip(self.compiled.levels, self.patience, truths, strict=True):
            if attempt != last:
                patience.reset()
            firing, since = patience.take_one(row, float(truth[0]))
            if firing and not severity:
                severity, onset = level.severity, since
        self.book.take_one(row, attempt, severity, onset)
        if severity != (self.changes[-1][1] if self.changes else 0):
            self.changes.append((row, int(severity)))

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
        if self.seen.lacking:
            return ", ".join(self.seen.lacking)
        if self.compiled.card.applies and not self.seen.applied:
            card = self.compiled.card
            named = {name: f"{threshold.value:g}" for name, threshold in card.thresholds.items()}
            where = _WORD.sub(lambda word: named.get(word[0], word[0]), card.applies)
            return f"unknown whether {where}" if self.seen.applied is None else f"judged only where {where}"
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
