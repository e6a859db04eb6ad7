"""What pictures keep of a run that grows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.dashboards.figures.chart import Chart, figure
from klinic.dashboards.figures.column import STRETCH, WIDE, Column
from klinic.dashboards.figures.memory import Memory
from klinic.dashboards.figures.scene import Scene, joined
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.figures.view import View


def grown(values: np.ndarray, cuts: list[int]) -> Column:
    """A column that got its values in several goes, the last known row once more each time."""
    column = Column()
    for last in [*sorted(cuts), len(values)]:
        first = max(column.rows - 1, 0)
        column.put(first, values[first:last])
    return column


@settings(deadline=None)  # a loaded machine is no fault of the column's
@given(st.integers(WIDE + 20, WIDE + 900), st.lists(st.integers(1, WIDE), max_size=6), st.integers(0, 2**32 - 1))
def test_a_column_grown_in_parts_shows_every_peak_of_any_window(count: int, cuts: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=count).astype(np.float32)
    values[rng.random(count) < 0.3] = np.nan
    column = grown(values, cuts)
    assert np.array_equal(column.values(count), values, equal_nan=True)
    for first, last in ((0, count), (7, count - 3)):
        rows = column.telling(first, last)
        assert np.all(np.diff(rows) > 0) and len(rows) < 2 * count / STRETCH + 3 * STRETCH
        assert np.nanmin(values[rows]) == np.nanmin(values[first:last])
        assert np.nanmax(values[rows]) == np.nanmax(values[first:last])


def test_arrays_handed_out_stay_as_they_are_when_a_column_grows() -> None:
    column = Column()
    column.put(0, np.arange(10.0))
    before = column.values(10)
    column.put(9, np.arange(9.0, 5000.0))
    assert before.tolist() == list(range(10)) and column.values(5000)[-1] == 4999


def test_a_run_that_grows_is_pictured_as_one_that_was_read_at_once(sick: Scene) -> None:
    """Bands, smoothed lines and baselines of a live run: only new rows were evaluated."""
    memory, run = Memory(), sick.run
    for rows in (*range(5, run.frame.height, 4), run.frame.height):
        live = Scene(run.head(rows), sick.diagnosis, memory)
        for name in ("actor/ppo_kl", "critic/score/mean"):
            live.bounds(name), live.baseline(name), live.column(name, 5)
    for name in ("actor/ppo_kl", "critic/score/mean", "actor/entropy"):
        chart = Chart(name, (name,))
        assert figure(live, chart, Look(), View(span=5)) == figure(sick, chart, Look(), View(span=5))


def test_a_value_that_joins_the_last_row_is_seen(sick: Scene) -> None:
    memory, name = Memory(), "critic/score/mean"
    last = sick.run.frame.height - 1
    without = sick.run.frame.with_columns(pl.col(name).shift(1).shift(-1))
    assert np.isnan(Scene(replace(sick.run, frame=without), sick.diagnosis, memory).values(name)[-1])
    assert Scene(sick.run, sick.diagnosis, memory).values(name)[-1] == pytest.approx(sick.run.frame[name][last])


def test_spans_that_cannot_be_told_apart_are_one() -> None:
    assert joined(np.array([(1, 2), (4, 5), (40, 50)]), 3) == [(1, 5), (40, 50)]
    assert joined(np.array([(1, 90), (4, 5), (40, 50)]), 3) == [(1, 90)]
    assert joined(np.empty((0, 2), dtype=np.int64), 3) == []
    many = np.array([(step, step) for step in range(1, 10_000, 3)])
    assert len(joined(many, 100)) == 1 and len(joined(many, 1)) == len(many)
