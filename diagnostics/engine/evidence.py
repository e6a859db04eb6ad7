"""What made a card fire, kept while rows arrive: the comparisons that held, with their values and bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from klinic.diagnostics.engine.compiled import CompiledCard, CompiledLevel, Piece
from klinic.diagnostics.engine.episodes import Episode
from klinic.diagnostics.engine.model import Evidence, Severity
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Block, Evaluator, Node
from klinic.diagnostics.signals.block import Floats, Mask
from klinic.diagnostics.signals.node import SPARSE, rank_of


@dataclass(frozen=True)
class View:
    """The rows that were evaluated last: values are read off here, by row of the frame."""

    block: Block
    evaluator: Evaluator

    def array(self, node: Node) -> Floats:
        """A node's values over the block."""
        return self.evaluator.stream(node).array(self.block.height)

    def value(self, node: Node | None, row: int) -> float | None:
        """A node's value at a row, None where it is unknown."""
        if node is None:
            return None
        stream = self.evaluator.stream(node)
        alone = self.block.height == 1
        value = stream.number if alone else float(stream.array(self.block.height)[row - self.block.first])
        return None if math.isnan(value) else value


@dataclass(frozen=True)
class AttemptEvidence:
    """Evidence of one attempt: where its first episode opened, and where its worst one was worst so far.

    peak, opened: severity and first row of the worst episode. margin: how far its first comparison lay beyond its
    bound there, NaN where it has none.
    """

    first: tuple[Evidence, ...]
    worst: tuple[Evidence, ...]
    peak: Severity
    opened: int
    margin: float = math.nan


Reached = tuple[float, int]  # how far a value went, and its row, negative: of equal values the first one is the worst
Extremes = Mapping[str, tuple[Reached, Evidence]]  # by a comparison's text


def worst_of(known: Iterable[Extremes]) -> Extremes:
    """Of each comparison the worst value."""
    worst: dict[str, tuple[Reached, Evidence]] = {}
    for some in known:
        worst |= {text: one for text, one in some.items() if text not in worst or one[0] > worst[text][0]}
    return worst


@dataclass(frozen=True)
class Held:
    """Where a card's levels held in a block. truths: of each level, at the block's rows."""

    levels: Sequence[CompiledLevel]
    truths: Sequence[Floats]
    view: View

    @property
    def patience(self) -> int:
        """Rows that can count towards a level before it fires."""
        return max(level.level.of for level in self.levels)

    def rows(self, first: int) -> list[int]:
        """Rows from `first` on at which a level held."""
        any_held = np.any([truth == 1 for truth in self.truths], axis=0)
        at = np.flatnonzero(any_held) + self.view.block.first
        return [int(row) for row in at[at >= first]]

    def extremes(self, first: int, last: int) -> Extremes:
        """Each comparison's worst value at the rows of the block in [first, last] at which its level held."""
        rows = slice(max(first - self.view.block.first, 0), last + 1 - self.view.block.first)
        parts = [
            (piece, truth) for level, truth in zip(self.levels, self.truths, strict=True) for piece in level.pieces
        ]
        found = (self._worst(piece, truth == 1, rows) for piece, truth in parts if (truth[rows] == 1).any())
        return worst_of(filter(None, found))

    def _worst(self, piece: Piece, level: Mask, rows: slice) -> Extremes | None:
        if piece.left is None or piece.op[:1] not in ("<", ">"):
            return None
        height = self.view.array(piece.left)
        held = level & (self.view.array(piece.truth) == 1) & ~np.isnan(height)
        height = np.where(held, -height if piece.op.startswith("<") else height, np.nan)[rows]
        if np.isnan(height).all():
            return None
        at = int(np.nanargmax(height))
        row = self.view.block.first + rows.start + at
        return {piece.text: ((float(height[at]), -row), _evidence(piece, self.view, row))}


@dataclass(frozen=True)
class CardEvidence:
    """One card's accounts and extremes, by attempt; waiting: of the last rows at which a level held and none fires."""

    compiled: CompiledCard
    accounts: Mapping[int, AttemptEvidence] = field(default_factory=dict)
    extremes: Mapping[int, Extremes] = field(default_factory=dict)
    waiting: tuple[tuple[int, Extremes], ...] = ()

    def evidence(self, attempt: int) -> tuple[Evidence, ...]:
        """What held where the card first fired in an attempt and where it was worst, each at its worst value."""
        account, worst = self.accounts[attempt], self.extremes.get(attempt, {})
        held = (*account.first, *account.worst)
        return tuple(dict.fromkeys(worst[one.text][1] if one.text in worst else one for one in held))

    def after(self, view: View, truths: Sequence[Floats], episodes: Sequence[Episode]) -> CardEvidence:
        """The witness after a block in which these episodes opened or went on; truths: of each level, at its rows."""
        held = Held(self.compiled.levels, truths, view)
        accounts, extremes = dict(self.accounts), dict(self.extremes)
        here = [episode for episode in episodes if episode.last >= view.block.first]
        for episode in here:
            accounts[episode.attempt] = self._heard(view, episode, accounts.get(episode.attempt))
            earlier = [known for row, known in self.waiting if episode.onset <= row < view.block.first]
            now = held.extremes(episode.onset, episode.last)
            extremes[episode.attempt] = worst_of([extremes.get(episode.attempt, {}), *earlier, now])
        rows = held.rows(max((episode.last + 1 for episode in here), default=view.block.first))
        found = [*self.waiting, *((row, held.extremes(row, row)) for row in rows[-held.patience :])]
        return replace(self, accounts=accounts, extremes=extremes, waiting=tuple(found[-held.patience :]))

    def _heard(self, view: View, episode: Episode, known: AttemptEvidence | None) -> AttemptEvidence:
        first = known.first if known else self._at(view, episode.opened, None)
        start = max(view.block.first, episode.peaked)
        if known is None or episode.peak > known.peak:
            known = AttemptEvidence(first, self._at(view, episode.peaked, episode.peak), episode.peak, episode.opened)
        elif episode.opened != known.opened:
            return known
        margin, row = self._furthest(view, episode.peak, start, episode.last)
        if math.isnan(margin) or known.margin >= margin:
            return known
        return replace(known, worst=self._at(view, row, episode.peak), margin=margin)

    def _furthest(self, view: View, peak: Severity, start: int, last: int) -> tuple[float, int]:
        """By how much, and at which row, the level's first comparison is furthest beyond its bound; NaN where none."""
        level = next(one for one in self.compiled.levels if one.severity == peak)
        piece = next((one for one in level.pieces if one.left is not None), None)
        if piece is None or piece.left is None or piece.right is None:
            return math.nan, start
        rows = slice(start - view.block.first, last + 1 - view.block.first)
        margin = view.array(piece.left)[rows] - view.array(piece.right)[rows]
        margin = -margin if piece.op.startswith("<") else margin
        margin = np.where(view.array(level.node)[rows] == 1, margin, np.nan)
        if np.isnan(margin).all():
            return math.nan, start
        at = int(np.nanargmax(margin))
        return float(margin[at]), start + at

    def _at(self, view: View, row: int, severity: Severity | None) -> tuple[Evidence, ...]:
        """Comparisons that hold at a row at which a level began to fire: it is a row at which that level is true."""
        levels = (one for one in self.compiled.levels if severity in (None, one.severity))
        level = next((one for one in levels if view.value(one.node, row) == 1), None)
        return _read(level, view, row) if level else ()


def _read(level: CompiledLevel, view: View, row: int) -> tuple[Evidence, ...]:
    held = [piece for piece in level.pieces if view.value(piece.truth, row) == 1]
    return tuple(
        evidence for piece in held for evidence in (_members(piece, view, row) or [_evidence(piece, view, row)])
    )


def _evidence(piece: Piece, view: View, row: int) -> Evidence:
    step = int(view.block.run.frame["step"][row])
    sides = view.value(piece.left, row), view.value(piece.right, row)
    seen = _seen(piece, view.block.run, row)
    return Evidence(piece.text, sides[0], piece.op, sides[1], piece.unit, step, piece.expression, seen)


def _members(piece: Piece, view: View, row: int) -> list[Evidence]:
    """What holds for the metrics of a list, each by its own comparisons."""
    if piece.each is None:
        return []
    number, training = next((n, part) for n, part in enumerate(view.block.trainings) if row < part.last)
    found: list[Evidence] = []
    for name, evaluator in view.evaluator.members(piece.truth, number).items():
        inner = View(training, evaluator)
        parts = piece.each(name)
        if all(inner.value(part.truth, row) == 1 for part in parts):
            found += [_evidence(part, inner, row) for part in parts]
    return found[:MOST]


def _seen(piece: Piece, run: Run, row: int) -> tuple[tuple[str, float], ...]:
    """Values of the metrics that a comparison reads, in its order: a sparse one's last."""
    names = [name for name in dict.fromkeys(_NAMES.findall(piece.expression)) if run.has(name)]
    values = {name: _standing(run, name, row) for name in names[:MOST]}
    return tuple((name, value) for name, value in values.items() if value is not None)


def _standing(run: Run, name: str, row: int) -> float | None:
    """A metric's value at a row; of a sparse one the last before it."""
    value = run.frame[name][row]
    if value is None and rank_of(name) == SPARSE:
        known = run.frame[name].head(row).drop_nulls()
        value = known[-1] if len(known) else None
    return None if value is None else float(value)


MOST = 6  # comparisons of a list, and metrics of a comparison, that are kept
_NAMES = re.compile(r"'([^']*)'")
