"""What pictures need of a run that grows, kept from version to version: only new rows are read and evaluated."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from klinic.dashboards.figures.arrays import Floats, smoothed
from klinic.dashboards.figures.column import Column
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Block, Evaluator, Facts, Scope, compile_text

BLOCK = 8192  # rows evaluated at once: what they need in between stays small
SETTLED = 20  # spans after which a smoothed line no longer knows how it began


class Memory:
    """The columns of one run so far. A run that was rewritten needs a new one.

    Safe to use from several threads; an older state of the run gets the first of the rows.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._columns: dict[str, Column] = {}
        self._smooth: dict[tuple[str, int], Column] = {}
        self._evaluations: dict[tuple[str, ...], _Evaluation] = {}

    def column(self, run: Run, name: str) -> Column:
        """A metric of the run; the last known row is read again, as values may join it later."""
        with self._lock:
            return self._recorded(run, name)

    def smoothed(self, run: Run, name: str, span: int) -> Column:
        """A metric's exponential moving mean over some steps."""
        with self._lock:
            raw, column = self._recorded(run, name), self._smooth.setdefault((name, span), Column())
            known = column.rows - 1
            since = max(known - SETTLED * span, 0)
            _grow(column, raw.rows, lambda first: smoothed(raw.values(raw.rows)[since:], span)[first - since :])
            return column

    def evaluated(self, run: Run, facts: Facts, texts: Mapping[str, str], scope: Scope) -> dict[str, Column]:
        """Values of expressions by name. Raises ExpressionError."""
        if not texts or not run.frame.height:
            return {}
        key = tuple(f"{name}={text}" for name, text in texts.items())
        with self._lock:
            if key not in self._evaluations:
                self._evaluations[key] = _Evaluation(texts, scope)
            return self._evaluations[key].upto(run, facts)

    def _recorded(self, run: Run, name: str) -> Column:
        column = self._columns.setdefault(name, Column())
        _grow(column, run.frame.height, lambda first: _read(run.frame, name, first))
        return column


def _grow(column: Column, rows: int, values: Callable[[int], Floats]) -> None:
    """Put what is new, and the last known row once more."""
    if column.rows <= rows:
        first = max(column.rows - 1, 0)
        column.put(first, values(first))


def _read(frame: pl.DataFrame, name: str, first: int) -> Floats:
    if name not in frame.columns:
        return np.full(frame.height - first, np.nan)
    values = frame[name][first:]
    return (values if values.dtype == pl.Float64 else values.cast(pl.Float64)).to_numpy()  # null becomes NaN


class _Evaluation:
    def __init__(self, texts: Mapping[str, str], scope: Scope) -> None:
        self._nodes = {name: compile_text(text, scope, "number") for name, text in texts.items()}
        self._evaluator = Evaluator(list(self._nodes.values()))
        self._columns = {name: Column() for name in texts}
        self._rows = 0

    def upto(self, run: Run, facts: Facts) -> dict[str, Column]:
        """The columns, at least as long as the run is."""
        for first in range(self._rows, run.frame.height, BLOCK):
            self._take(Block(run, first, min(first + BLOCK, run.frame.height), facts))
        self._rows = max(self._rows, run.frame.height)
        return self._columns

    def _take(self, block: Block) -> None:
        self._evaluator.advance(block)
        for name, node in self._nodes.items():
            self._columns[name].put(block.first, self._evaluator.stream(node).array(block.height))
