"""Findings from episodes, with the comparisons that made the card fire as evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from klinic.diagnostics.engine.compiled import CompiledCard, CompiledLevel, Piece
from klinic.diagnostics.engine.episodes import Episode
from klinic.diagnostics.engine.model import Evidence, Finding, Severity
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Block, Evaluator, Facts, Node
from klinic.diagnostics.signals.block import Floats


def findings_of(
    compiled: CompiledCard, episodes: Sequence[Episode], run: Run, facts: Facts, attempt: int
) -> tuple[Finding, ...]:
    """One finding for each attempt in which the card fired; `attempt` is the one that is running now."""
    if not episodes:
        return ()
    witness = Witness(compiled, run, facts)
    grouped = groupby(episodes, key=lambda episode: episode.attempt)
    return tuple(_finding(compiled, list(some), run, witness, current=number == attempt) for number, some in grouped)


def _finding(compiled: CompiledCard, episodes: list[Episode], run: Run, witness: Witness, *, current: bool) -> Finding:
    card, first, last = compiled.card, episodes[0], episodes[-1]
    worst = max(episodes, key=lambda episode: episode.peak)
    steps = run.frame["step"]
    return Finding(
        id=card.id, name=card.name, severity=last.severity, peak=worst.peak, confidence=card.confidence,
        first_step=int(steps[first.onset]), last_step=int(steps[last.last]), attempt=first.attempt,
        closed=last.closed or not current, message=card.text("summary"), why=card.text("why"),
        evidence=witness.evidence(first, worst),
        episodes=tuple((int(steps[one.onset]), int(steps[one.last])) for one in episodes),
        family=card.family, panel=card.panel,
    )  # fmt: skip


class Witness:
    """Reads the values of a card's comparisons at given rows; evaluates that card alone, and only if it fired."""

    def __init__(self, compiled: CompiledCard, run: Run, facts: Facts) -> None:
        self.compiled, self.run = compiled, run
        self._evaluator = Evaluator(node for level in compiled.levels for node in _nodes(level))
        self._evaluator.advance(Block(run, 0, run.frame.height, facts))

    def evidence(self, first: Episode, worst: Episode) -> tuple[Evidence, ...]:
        """What held where the card first fired, and where it was worst."""
        opened = self._at(first.opened, None)
        peaked = self._at(self._worst_row(worst), worst.peak)
        return tuple(dict.fromkeys([*opened, *peaked]))

    def _at(self, row: int, severity: Severity | None) -> list[Evidence]:
        """Comparisons that hold at a row or, where k of n fires after the fact, at the last row before it."""
        levels = [one for one in self.compiled.levels if severity in (None, one.severity)]
        for at in range(row, -1, -1):
            for level in levels:
                if self._node(level, at):
                    return [self._read(piece, at) for piece in level.pieces if self._true(piece, at)]
        return []

    def _node(self, level: CompiledLevel, row: int) -> bool:
        return bool(self._array(level.node)[row] == 1)

    def _true(self, piece: Piece, row: int) -> bool:
        return bool(self._array(piece.truth)[row] == 1)

    def _array(self, node: Node) -> Floats:
        return self._evaluator.stream(node).array(self.run.frame.height)

    def _read(self, piece: Piece, row: int) -> Evidence:
        step = int(self.run.frame["step"][row])
        value, bound = self._value(piece.left, row), self._value(piece.right, row)
        return Evidence(piece.text, value, piece.op, bound, piece.unit, step)

    def _value(self, node: Node | None, row: int) -> float | None:
        value = math.nan if node is None else float(self._array(node)[row])
        return None if math.isnan(value) else value

    def _worst_row(self, episode: Episode) -> int:
        """The row, from the peak's first on, at which the level's first comparison is furthest beyond its bound."""
        level = next(one for one in self.compiled.levels if one.severity == episode.peak)
        piece = next((one for one in level.pieces if one.left is not None), None)
        if piece is None or piece.left is None or piece.right is None:
            return episode.peaked
        rows = slice(episode.peaked, episode.last + 1)
        margin = (self._array(piece.left) - self._array(piece.right))[rows]
        margin = np.where(self._array(level.node)[rows] == 1, -margin if piece.op.startswith("<") else margin, np.nan)
        return episode.peaked + (0 if np.isnan(margin).all() else int(np.nanargmax(margin)))


def _nodes(level: CompiledLevel) -> list[Node]:
    sides = [node for piece in level.pieces for node in (piece.truth, piece.left, piece.right) if node is not None]
    return [level.node, *sides]
