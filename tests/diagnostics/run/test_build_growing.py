"""A builder that is looked at while it grows: forks, states in between, what always holds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.run import Event, Happened, Row, Run, RunBuilder, cells

A, B, V = "actor/ppo_kl", "critic/score/mean", "val-core/x/acc/mean@1"


def build(*events: Event) -> Run:
    builder = RunBuilder("log", "test", canonical)
    builder.add(events)
    return builder.build()


values = st.one_of(st.none(), st.floats(), st.booleans(), st.integers())
rows = st.builds(
    Row,
    values=st.dictionaries(
        st.sampled_from([A, B, V, "actor/entropy_loss", "actor/entropy", "own name"]), values, min_size=1
    ),
    step=st.one_of(st.none(), st.integers(-2, 9)),
    time=st.one_of(st.none(), st.floats(0, 100)),
    nulls_are_nan=st.booleans(),
)
events = st.lists(
    st.one_of(rows, st.builds(Happened, kind=st.just("resumed"), time=st.one_of(st.none(), st.floats(0, 100))))
)


@settings(max_examples=60, deadline=None)
@given(events=events, cut=st.integers(0, 30))
def test_what_always_holds(events: list[Event], cut: int, differences: Callable[..., list[str]]) -> None:
    builder = RunBuilder("log", "test", canonical)
    builder.add(events[:cut])
    early = builder.build()
    forked = builder.fork()
    forked.add(events[cut:])
    builder.add(events[cut:])
    run = builder.build()
    assert differences(run, build(*events)) == differences(run, _as("log", forked)) == []
    assert sum(attempt.rows for attempt in run.attempts) == run.frame.height >= early.frame.height
    assert run.nonfinite.width == 0 or run.nonfinite.height == run.frame.height
    for metric in run.metrics:
        assert not run.frame[metric].is_nan().any()
        assert not run.frame[metric].is_infinite().any()
    for attempt in run.attempts:
        steps = run.frame["step"].slice(attempt.first_row, attempt.rows).to_list()
        assert steps == sorted(set(steps))
    for name in run.nonfinite.columns:
        flagged = run.frame.select(pl.col(name)).filter(run.nonfinite[name] > 0)
        assert flagged[name].null_count() == flagged.height


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=events, cuts=st.lists(st.integers(1, 6), max_size=30))
def test_states_in_between_share_rows_and_are_never_changed(
    events: list[Event], cuts: list[int], differences: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often a recording is looked at while it grows, and however few rows stay open in between."""
    monkeypatch.setattr(cells, "OPEN", 1)
    monkeypatch.setattr(cells, "MOST_OPEN", 1)
    builder, seen, last = RunBuilder("log", "test", canonical), [], 0
    for more in [*cuts, len(events)]:
        builder.add(events[last : last + more])
        last += more
        seen.append((last, builder.build(), builder.fork().build()))
    for until, run, forked in seen:
        whole = build(*events[:until])
        assert differences(run, whole) == differences(_as("log", builder), build(*events)) == []
        assert forked.frame.equals(run.frame)


def test_a_value_that_comes_late_leaves_the_states_before_alone() -> None:
    builder = RunBuilder("log", "test", canonical)
    builder.add(Row({A: float(step)}, step) for step in range(1, 301))
    before = builder.build()
    builder.add([Row({V: 0.5}, 7), Row({V: math.nan}, 9), Row({A: 301.0}, 301)])
    after = builder.build()
    assert not before.has(V)
    assert before.frame.height == 300
    assert after.frame[V].drop_nulls().to_list() == [0.5]
    assert after.frame[V][6] == 0.5
    assert (after.nonfinite[V].to_numpy() > 0).nonzero()[0].tolist() == [8]
    assert builder.build().frame.equals(after.frame)


def test_forks_share_the_rows_that_stand() -> None:
    builder = RunBuilder("log", "test", canonical)
    builder.add(Row({A: float(step)}, step) for step in range(1, 1001))
    forks = [builder.fork() for _ in range(2)]
    assert {fork._rows.columns.rows - fork._rows.columns._base for fork in forks} == {cells.OPEN}
    chunks = [fork.build().frame[A].get_chunks()[0] for fork in forks]
    assert np.shares_memory(*(chunk.to_numpy(allow_copy=False) for chunk in chunks))


def _as(path: str, builder: RunBuilder) -> Run:
    builder.stands_at(path)
    return builder.build()
