"""Columns derived from a run's metrics and config by the formulas of derived.yaml."""

from __future__ import annotations

from functools import cache

import polars as pl

from klinic.diagnostics.knowledge.metrics import MetricInfo, derived_patterns, metric, spread
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Block, Evaluator, Facts, Node, Scope, compile_text


@cache
def derived() -> tuple[MetricInfo, ...]:
    """Every derived signal, patterns spread out, in the order of derived.yaml."""
    names = (name for pattern in derived_patterns() for name in spread(pattern))
    return tuple(info for name in names if (info := metric(name)) is not None)


def derive(run: Run, facts: Facts | None = None) -> pl.DataFrame:
    """Columns step (Int64), attempt (Int64), then Float64 `derived/...`, a row for each row of `run.frame`.

    Null where a value is unknown; a signal that is unknown at every row has no column. facts: settings of the run,
    read off it where not given.
    """
    nodes = _nodes()
    evaluator = Evaluator(nodes.values())
    evaluator.advance(Block(run, 0, run.frame.height, facts or _facts_of(run)))
    columns = {name: evaluator.stream(node).series(run.frame.height, pl.Float64) for name, node in nodes.items()}
    known = [column.alias(name) for name, column in columns.items() if column.null_count() < len(column)]
    place = run.frame.select(pl.col("step", "attempt")) if run.frame.width else pl.DataFrame()
    return place.with_columns(known)


def _facts_of(run: Run) -> Facts:
    from klinic.diagnostics.verlconfig.facts import facts

    return facts(run)


@cache
def _nodes() -> dict[str, Node]:
    return {info.name: compile_text(info.formula, Scope(lets=dict(info.let)), "number") for info in derived()}
