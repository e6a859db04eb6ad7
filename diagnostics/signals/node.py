"""Nodes of a compiled expression: each advances block by block and carries a small state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from klinic.diagnostics.signals.block import Block

Floats = npt.NDArray[np.float64]
Value = Any  # pl.Series over the block's rows, or one scalar for all of them; None is unknown
Kind = Literal["number", "truth", "text", "list", "scalar"]  # scalar: a config value, settled by its use

# How often an expression has a value of its own: always (constants, step()), at evaluations, at each step.
ALWAYS, SPARSE, DENSE = range(3)
_SPARSE_STARTS = ("val-", "val/", "eval/", "eval_", "test_score/")
_SPARSE_NAMES = ("timing_s/testing", "timing_s/save_checkpoint")


def rank_of(metric: str) -> int:
    """SPARSE for what is logged at evaluations only (told by the name, so that a prefix decides alike)."""
    return SPARSE if metric.startswith(_SPARSE_STARTS) or metric in _SPARSE_NAMES else DENSE


@dataclass(frozen=True, slots=True)
class Stream:
    """A node's values over a block.

    values: a Series with nulls where unknown, or a scalar. fresh: rows with a value of its own, for sparse
    streams that carry their last value forward; None: wherever there is a value.
    """

    values: Value
    fresh: pl.Series | None = None

    def series(self, height: int, dtype: Any = pl.Float64) -> pl.Series:
        """The values as a Series of the block's height."""
        if isinstance(self.values, pl.Series):
            return self.values
        return pl.repeat(self.values, height, eager=True, dtype=dtype)

    def known(self, height: int, dtype: Any = pl.Float64) -> pl.Series:
        """Boolean: rows with a value of the stream's own."""
        mask = self.series(height, dtype).is_not_null()
        return mask if self.fresh is None else mask & self.fresh


@dataclass(frozen=True)
class Known:
    """The values of a stream's own within a block: values, their steps and row numbers in the frame."""

    values: Floats
    steps: Floats
    rows: Floats
    block: Block


class Node:
    """One operation. `key` is its normalised text: equal keys are evaluated once."""

    kind: Kind = "number"

    def __init__(self, key: str, children: Sequence[Node] = (), rank: int | None = None) -> None:
        self.key = key
        self.children = tuple(children)
        self.rank: int = max((child.rank for child in children), default=ALWAYS) if rank is None else rank
        self.metrics: frozenset[str] = frozenset().union(*(child.metrics for child in children))

    def start(self) -> Any:
        """State before the first row."""
        return None

    def advance(self, block: Block, args: list[Stream], state: Any) -> tuple[Stream, Any]:
        """Values over the block's rows, and the state for the next block."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.key


def merge_fresh(rank: int, children: Sequence[Node], args: Sequence[Stream]) -> pl.Series | None:
    """Rows at which an elementwise result has a value of its own: sparse only where no operand is dense."""
    if rank != SPARSE:
        return None
    masks = [arg.fresh for child, arg in zip(children, args, strict=True) if child.rank == SPARSE]
    merged: pl.Series | None = None
    for mask in masks:
        if mask is not None:
            merged = mask if merged is None else merged | mask
    return merged


class Constant(Node):
    """A number, truth value, text or list of them; None is unknown."""

    def __init__(self, value: Any) -> None:
        super().__init__(repr(value))
        self.value = value
        self.kind = _kind_of(value)

    def advance(self, block: Block, args: list[Stream], state: Any) -> tuple[Stream, Any]:
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

    def advance(self, block: Block, args: list[Stream], state: Any) -> tuple[Stream, Any]:
        """Column of the block; the state is the value carried into the next block."""
        values = block.column(self.name)
        if self.rank == DENSE:
            return Stream(values), None
        return carried(values, values.is_not_null(), state)


def carried(values: pl.Series, fresh: pl.Series, last: Any) -> tuple[Stream, Any]:
    """A sparse stream: values filled forward from `last`; returns the value to carry on as state."""
    filled = (
        values.fill_null(strategy="forward").fill_null(last)
        if last is not None
        else values.fill_null(strategy="forward")
    )
    return Stream(filled, fresh), (filled[-1] if len(filled) else last)


class Elementwise(Node):
    """Row by row, without state. `fn` takes scalars or Series and gives a scalar or a Series."""

    def __init__(
        self, key: str, children: Sequence[Node], fn: Callable[..., Value], kind: Kind = "number", *, rows: bool = False
    ) -> None:
        super().__init__(key, children)
        self.fn = fn
        self.kind = kind
        self.rows = rows

    def advance(self, block: Block, args: list[Stream], state: Any) -> tuple[Stream, Any]:
        """Apply `fn`; with `rows` it is given the block's height first and decides about scalars itself."""
        values = [arg.values for arg in args]
        result = self.fn(block.height, *values) if self.rows else self.fn(*values)
        return Stream(result, merge_fresh(self.rank, self.children, args)), None


class OnValues(Node):
    """A signal over the values of its first child: windows and folds. Unknown rows neither count nor reset."""

    def start(self) -> Any:
        """(state of the fold, value carried forward)."""
        return self.begin(), None

    def begin(self) -> Any:
        """State of the fold before the first value."""
        return None

    def fold(self, new: Known, state: Any) -> tuple[Floats, Any]:
        """One result for each new value (NaN where unknown), and the next state."""
        raise NotImplementedError

    def advance(self, block: Block, args: list[Stream], state: Any) -> tuple[Stream, Any]:
        """Gather the new values, fold, scatter the results back to their rows."""
        source, child = args[0], self.children[0]
        dtype = pl.Boolean if child.kind == "truth" else pl.Float64
        mask = source.known(block.height, dtype)
        at = mask.arg_true().to_numpy()
        picked = source.series(block.height, dtype).gather(at).cast(pl.Float64).to_numpy()
        known = Known(picked, block.steps.gather(at).to_numpy(), at.astype(np.float64) + block.first, block)
        results, inner = self.fold(known, state[0])
        values = self._scatter(results, at, block.height)
        if self.rank != SPARSE:
            return Stream(values, None), (inner, None)
        stream, last = carried(values, mask, state[1])
        return stream, (inner, last)

    def _scatter(self, results: Floats, at: npt.NDArray[Any], height: int) -> pl.Series:
        spread = np.full(height, np.nan)
        spread[at] = results
        spread[~np.isfinite(spread)] = np.nan
        values = pl.Series(spread, nan_to_null=True)
        return values > 0.5 if self.kind == "truth" else values
