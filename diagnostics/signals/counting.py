"""Counting: shares, streaks, evaluations, standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from klinic.diagnostics.signals.block import Block, Mask
from klinic.diagnostics.signals.grain import Grain
from klinic.diagnostics.signals.node import ALWAYS, SPARSE, Node, merge_fresh, rank_of
from klinic.diagnostics.signals.registry import Num, Truth, Window, signal
from klinic.diagnostics.signals.stream import Stream
from klinic.diagnostics.signals.values import Fold, mean

DEFAULT_N = 200.0


@signal
def frac(p: Truth, w: Window) -> Node:
    """Share of the last w known values at which P holds."""
    return mean(p, w)


@signal
def streak(p: Truth) -> Node:
    """Number of values in a row at which P holds."""
    return Fold(f"streak({p.key})", p, 0, lambda run, held: (run + 1, run + 1.0) if held else (0, 0.0))


class Evaluations(Node):
    """Rows with a validation value so far; known at every row."""

    def __init__(self) -> None:
        super().__init__("evals()", rank=ALWAYS)

    def start(self) -> float:
        """None yet."""
        return 0.0

    def advance(self, block: Block, args: Sequence[Stream], state: float) -> tuple[Stream, Any]:
        """Running count."""
        counted = evaluated(block).cumsum() + state
        return Stream(counted), (float(counted[-1]) if len(counted) else state)


def evaluated(block: Block) -> Mask:
    """Rows in which a validation metric was written."""
    mask = np.zeros(block.height, np.bool_)
    for name in block.run.metrics:
        if rank_of(name) == SPARSE and not name.startswith("timing_s/"):
            mask = mask | block.seen(name)
    return mask


@signal
def evals() -> Node:
    """Number of evaluations so far."""
    return Evaluations()


class StandardError(Node):
    """sqrt(p (1 - p) / n); unknown outside [0, 1]. n of evaluations: as stated, else as their values tell."""

    def __init__(self, m: Node) -> None:
        told = (Grain(name) for name in sorted(m.metrics) if rank_of(name) == SPARSE)
        super().__init__(f"se({m.key})", (m, *(told if m.rank == SPARSE else ())))

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Row by row, with the number of rows behind the rate."""
        stated = block.fact("val_rows" if self.rank == SPARSE else "train_batch_size")
        number = np.full(block.height, float(stated or DEFAULT_N))
        for told in () if stated else args[1:]:
            number = np.where(told.array(block.height) > 0, told.array(block.height), number)
        rate = args[0].array(block.height)
        rate = np.where((rate >= 0) & (rate <= 1), rate, np.nan)
        return Stream(np.sqrt(rate * (1 - rate) / number), merge_fresh(self.rank, self.children, args)), None


@signal
def se(m: Num) -> Node:
    """Standard error of a rate, from the number of rows behind it where stated, or told by its values; else 200."""
    return StandardError(m)
