"""Values of expressions at every row of a run that grows: only new rows are evaluated, whoever asks."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np
import polars as pl

from klinic.dashboards.figures.arrays import Floats
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Block, Evaluator, Facts, Scope, compile_text


class Memory:
    """What was evaluated of one run so far. A run that was rewritten needs a new one.

    Safe to use from several threads; an older state of the run gets the first of the rows.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._columns: dict[tuple[str, ...], _Columns] = {}

    def values(self, run: Run, facts: Facts, texts: Mapping[str, str], scope: Scope) -> dict[str, Floats]:
        """Values of expressions by name, one a row, NaN where unknown. Raises ExpressionError."""
        if not texts or not run.frame.height:
            return {}
        key = tuple(f"{name}={text}" for name, text in texts.items())
        with self._lock:
            columns = self._columns.get(key) or _Columns(texts, scope)
            self._columns[key] = columns
            return columns.upto(run, facts)


class _Columns:
    def __init__(self, texts: Mapping[str, str], scope: Scope) -> None:
        self._nodes = {name: compile_text(text, scope, "number") for name, text in texts.items()}
        self._evaluator = Evaluator(list(self._nodes.values()))
        self._rows = 0

    def upto(self, run: Run, facts: Facts) -> dict[str, Floats]:
        """The columns as long as the run is."""
        height = run.frame.height
        if height > self._rows:
            self._evaluator.advance(Block(run, self._rows, height, facts))
            self._rows = height
        streams = {name: self._evaluator.stream(node) for name, node in self._nodes.items()}
        return {name: _floats(stream.series(self._rows, pl.Float64))[:height] for name, stream in streams.items()}


def _floats(series: pl.Series) -> Floats:
    return series.fill_null(np.nan).to_numpy()
