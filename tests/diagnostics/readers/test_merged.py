"""Blocks of rows that follow each other are one; what stands between them parts them."""

from __future__ import annotations

import math

import numpy as np

from klinic.diagnostics.readers.fast.jsonshape import merged
from klinic.diagnostics.run.events import Block, Note, one_by_one


def block(names: str, steps: list[int], times: list[float] | None = None, line: int = 1) -> Block:
    values = np.array(steps, float)[:, None] + np.arange(len(names)) / 10
    values[0, 0] = math.nan
    moments = None if times is None else np.array(times)
    return Block(tuple(names), np.array(steps, np.int64), values, moments, {(0, 0): 1}, line)


def test_merged_blocks_hold_the_rows_of_all() -> None:
    events = [
        block("ab", [1, 2], line=2),
        block("ab", [3], [9.5], line=3),
        Note("x"),
        block("ab", [4]),
        block("a", [5]),
    ]
    found = list(merged(events))
    assert [len(event.steps) if isinstance(event, Block) else event for event in found] == [3, Note("x"), 1, 1]
    together, apart = (
        [(row.step, row.time, repr(row.values)) for row in one_by_one(some) if not isinstance(row, Note)]  # type: ignore[union-attr]
        for some in (found, events)
    )
    assert together == apart
    first = found[0]
    assert isinstance(first, Block)
    assert (first.line, dict(first.codes)) == (3, {(0, 0): 1, (2, 0): 1})
    assert list(merged([])) == []
