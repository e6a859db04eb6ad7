"""What is there: non-finite values, absent metrics, number of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from klinic.diagnostics.signals.block import Block
from klinic.diagnostics.signals.node import ALWAYS, DENSE, NONE_NEW, ONE_NEW, Metric, Node
from klinic.diagnostics.signals.registry import Any_, Num, Window, signal
from klinic.diagnostics.signals.stream import Stream
from klinic.diagnostics.signals.values import sum_


class Flags(Node):
    """1 where a metric was written and not finite, 0 where it was finite, unknown where it was not written."""

    def __init__(self, metric: str) -> None:
        super().__init__(f"flags({metric!r})", rank=Metric(metric).rank)
        self.metric = metric
        self.metrics = frozenset([metric])

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Flags over the block."""
        if block.height == 1:
            return self._one(block), None
        seen = block.seen(self.metric)
        values = np.where(seen, block.flagged(self.metric), np.nan)
        return Stream(values, seen if self.rank != DENSE else None), None

    def _one(self, block: Block) -> Stream:
        """The same over a single row."""
        finite = block.value(self.metric) is not None
        flag = 0.0 if finite else 1.0 if block.flagged(self.metric)[0] else None
        fresh = None if self.rank == DENSE else NONE_NEW if flag is None else ONE_NEW
        return Stream(flag, fresh)


@signal
def nonfinite(m: Num, w: Window = 1) -> Node:
    """Number of non-finite values among the last w values, those counted in."""
    if not isinstance(m, Metric):
        raise ValueError("nonfinite wants one metric in quotes")
    return sum_(Flags(m.name), w)


class Presence(Node):
    """How many values (finite, or written at all) a stream has had so far; known at every row."""

    def __init__(self, key: str, source: Node, *, absent: bool) -> None:
        super().__init__(key, (source,), rank=ALWAYS)
        self.absent = absent
        self.kind = "truth" if absent else "number"
        self.written = source.name if absent and isinstance(source, Metric) else None

    def start(self) -> int:
        """None seen."""
        return 0

    def advance(self, block: Block, args: Sequence[Stream], state: int) -> tuple[Stream, Any]:
        """Running count, or whether it is nought."""
        if block.height == 1:
            state += args[0].is_known if self.written is None else bool(block.seen(self.written)[0])
            return Stream(state == 0 if self.absent else float(state)), state
        mask = args[0].known(block.height) if self.written is None else block.seen(self.written)
        counted = mask.cumsum() + float(state)
        result = np.where(counted == 0, 1.0, 0.0) if self.absent else counted
        return Stream(result), (int(counted[-1]) if len(counted) else state)


@signal
def absent(m: Any_) -> Node:
    """The run has never had this metric up to here."""
    return Presence(f"absent({m.key})", m, absent=True)


@signal
def count(m: Any_) -> Node:
    """Number of finite values so far."""
    return Presence(f"count({m.key})", m, absent=False)
