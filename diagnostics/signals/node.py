"""Nodes of a compiled expression: each advances block by block and carries a small state."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from klinic.diagnostics.signals.block import Block, Floats, Mask
from klinic.diagnostics.signals.stream import Stream, Value

Kind = Literal["number", "truth", "text", "list", "scalar"]  # scalar: a config value, settled by its use

# How often an expression has a value of its own: always (constants, step()), at evaluations, at each step.
ALWAYS, SPARSE, DENSE = range(3)
_SPARSE_STARTS = ("val-", "val/", "eval/", "eval_", "test_score/")
_SPARSE_NAMES = ("timing_s/testing", "timing_s/save_checkpoint")


def rank_of(metric: str) -> int:
    """SPARSE for what is logged at evaluations only (told by the name, so that a prefix decides alike)."""
    return SPARSE if metric.startswith(_SPARSE_STARTS) or metric in _SPARSE_NAMES else DENSE


@dataclass(frozen=True, slots=True)
class Known:
    """The values of a stream's own within a block."""

    values: Floats
    block: Block


class Node(ABC):
    """One operation. `key` is its normalised text: equal keys are evaluated once."""

    kind: Kind = "number"
    lasting = False  # whether its state outlives the beginning of a training from scratch
    still = False  # whether it is one scalar for the whole run, of its config and its facts

    def __init__(self, key: str, children: Sequence[Node] = (), rank: int | None = None) -> None:
        self.key = key
        self.children = tuple(children)
        self.rank: int = max((child.rank for child in children), default=ALWAYS) if rank is None else rank
        self.metrics: frozenset[str] = frozenset().union(*(child.metrics for child in children))

    def start(self) -> Any:
        """State before the first row."""
        return None

    def fork(self, state: Any) -> Any:
        """A state that goes its own way from here; the state itself where `advance` never changes one in place."""
        return state

    def members(self, state: Any) -> Mapping[str, Any]:
        """Of a signal over a list of metrics, the evaluator of each one that has appeared."""
        return {}

    @abstractmethod
    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Values over the block's rows, and the state for the next block."""

    def __repr__(self) -> str:
        return self.key


ONE_NEW, NONE_NEW = np.ones(1, np.bool_), np.zeros(1, np.bool_)  # `fresh` of a single row


def merge_fresh(rank: int, children: Sequence[Node], args: Sequence[Stream]) -> Mask | None:
    """Rows at which an elementwise result has a value of its own: sparse only where no operand is dense."""
    if rank != SPARSE:
        return None
    masks = [arg.fresh for child, arg in zip(children, args, strict=True) if child.rank == SPARSE]
    known = [mask for mask in masks if mask is not None]
    return np.logical_or.reduce(known) if known else None


class Constant(Node):
    """A number, truth value, text or list of them; None is unknown."""

    still = True

    def __init__(self, value: Any) -> None:
        super().__init__(repr(value))
        self.value = value
        self.kind = _kind_of(value)

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """The same scalar for all rows."""
        return Stream(self.value), None


def _kind_of(value: Any) -> Kind:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list | tuple) else "number"


class Metric(Node):
    """A metric by its name; a sparse one carries its last value forward."""

    def __init__(self, name: str) -> None:
        super().__init__(repr(name), rank=rank_of(name))
        self.name = name
        self.metrics = frozenset([name])

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Column of the block; the state is the value carried into the next block."""
        if block.height == 1:
            return self._one(block.value(self.name), state)
        values = block.column(self.name)
        if self.rank == DENSE:
            return Stream(values), None
        return carried(values, ~np.isnan(values), state)

    def _one(self, value: float | None, last: float | None) -> tuple[Stream, Any]:
        """The same over a single row."""
        if self.rank == DENSE:
            return Stream(value), None
        carry = last if value is None else value
        return Stream(carry, NONE_NEW if value is None else ONE_NEW), carry


def carried(values: Floats, fresh: Mask, last: float | None) -> tuple[Stream, Any]:
    """A sparse stream: values filled forward, from `last` on; returns the value to carry on as state."""
    known = np.flatnonzero(~np.isnan(values))
    at = np.searchsorted(known, np.arange(len(values)), side="right") - 1
    filled = np.full(len(values), np.nan if last is None else last)
    filled[at >= 0] = values[known[at[at >= 0]]]
    latest = float(filled[-1]) if len(filled) else last
    return Stream(filled, fresh), (latest if latest == latest else None)


class Elementwise(Node):
    """Row by row, without state. `fn` takes scalars or arrays and gives a scalar or an array.

    one: the same for scalars alone, where that is quicker.
    """

    def __init__(
        self,
        key: str,
        children: Sequence[Node],
        fn: Callable[..., Value],
        kind: Kind = "number",
        one: Callable[..., Value] | None = None,
    ) -> None:
        super().__init__(key, children)
        self.fn = fn
        self.one = one or fn
        self.kind = kind
        self.still = all(child.still for child in children)
        self.sparse = self.rank == SPARSE

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Apply `fn` to the values."""
        result = self.fn(*[arg.values for arg in args])
        return Stream(result, merge_fresh(self.rank, self.children, args) if self.sparse else None), None


class OnValues(Node):
    """A signal over the values of its first child: windows and folds. Unknown rows neither count nor reset."""

    def start(self) -> Any:
        """(state of the fold, value carried forward)."""
        return self.begin(), None

    def begin(self) -> Any:
        """State of the fold before the first value."""
        return None

    @abstractmethod
    def fold(self, new: Known, state: Any) -> tuple[Floats, Any]:
        """One result for each new value (NaN where unknown), and the next state."""

    def fold_one(self, value: float, block: Block, state: Any) -> tuple[float, Any]:
        """The same for a single new value."""
        results, state = self.fold(Known(np.array([value]), block), state)
        return float(results[0]), state

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Gather the new values, fold, scatter the results back to their rows."""
        if block.height == 1:
            return self._one(block, args[0], state)
        mask = args[0].known(block.height)
        at = np.flatnonzero(mask)
        results, inner = self.fold(Known(args[0].array(block.height)[at], block), state[0])
        values = np.full(block.height, np.nan)
        values[at] = results
        values[~np.isfinite(values)] = np.nan
        if self.rank != SPARSE:
            return Stream(values), (inner, None)
        stream, last = carried(values, mask, state[1])
        return stream, (inner, last)

    def _one(self, block: Block, source: Stream, state: Any) -> tuple[Stream, Any]:
        """The same over a single row."""
        inner, value, new = state[0], None, source.is_known
        if new:
            result, inner = self.fold_one(source.number, block, inner)
            value = result if math.isfinite(result) else None
        if self.rank != SPARSE:
            return Stream(value), (inner, None)
        carry = state[1] if value is None else value
        return Stream(carry, ONE_NEW if new else NONE_NEW), (inner, carry)
