"""The builder: rows of a step, attempts, nulls, duplicates, late values, big tables."""

from __future__ import annotations

import math
import time

import pytest

from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.run import (
    ConfigRead,
    Event,
    Happened,
    Line,
    ManifestRead,
    Meta,
    Note,
    Row,
    Run,
    RunBuilder,
    SampleRead,
)
from klinic.diagnostics.run.model import MINUS_INF, NAN, PLUS_INF, SWALLOWED

pytestmark = pytest.mark.slow

A, B, V = "actor/ppo_kl", "critic/score/mean", "val-core/x/acc/mean@1"


def build(*events: Event) -> Run:
    builder = RunBuilder("log", "test", canonical)
    builder.add(events)
    return builder.build()


def test_a_validation_line_is_merged_into_its_step() -> None:
    run = build(Row({A: 0.1, B: 0.5}, 1), Row({V: 0.4}, 1), Row({A: 0.2, B: 0.6}, 2))
    assert run.frame["step"].to_list() == [1, 2]
    assert run.frame[V].to_list() == [0.4, None]


def test_a_validation_line_before_its_step_is_merged_too() -> None:
    assert build(Row({V: 0.4}, 1), Row({A: 0.1}, 1)).frame.height == 1


def test_a_row_printed_twice_is_one_row() -> None:
    row = Row({A: 0.1, B: math.nan, V: None}, 1, nulls_are_nan=True)
    run = build(row, row, Row({A: 0.2}, 2))
    assert run.frame["step"].to_list() == [1, 2]
    assert run.nonfinite[B].to_list() == [NAN, 0]


def test_a_step_that_falls_back_opens_an_attempt() -> None:
    run = build(*(Row({A: 0.1 * step}, step) for step in (1, 2, 3, 2, 3, 4)))
    assert run.frame["attempt"].to_list() == [1, 1, 1, 2, 2, 2]
    assert [(a.number, a.first_row, a.rows, a.first_step, a.last_step) for a in run.attempts] == [
        (1, 0, 3, 1, 3),
        (2, 3, 3, 2, 4),
    ]


def test_the_same_step_with_other_values_is_another_attempt() -> None:
    assert build(Row({A: 0.1}, 5), Row({A: 0.2}, 5)).frame["attempt"].to_list() == [1, 2]


def test_a_resume_between_rows_opens_an_attempt() -> None:
    run = build(Row({A: 0.1}, 1), Happened("resumed", 1), Row({A: 0.2}, 2))
    assert run.frame["attempt"].to_list() == [1, 2]


def test_a_resume_before_the_first_row_opens_none() -> None:
    assert build(Happened("resumed", 10), Row({A: 0.1}, 11)).frame["attempt"].to_list() == [1]


def test_a_resume_that_was_read_ahead_takes_effect_at_its_time() -> None:
    rows = [Row({A: 0.1}, step, float(time)) for step, time in ((1, 10), (2, 20), (3, 40), (4, 50))]
    run = build(Happened("resumed", 2, 30.0), *rows)
    assert run.frame["attempt"].to_list() == [1, 1, 2, 2]


def test_metrics_of_their_own_that_come_late_join_their_step() -> None:
    run = build(Row({A: 0.1}, 1), Row({A: 0.2}, 2), Row({V: 0.4}, 1), Row({A: 0.3}, 3), Row({V: 0.5}, 3))
    assert run.frame["step"].to_list() == [1, 2, 3]
    assert run.frame[V].to_list() == [0.4, None, 0.5]


def test_an_older_value_never_joins_where_newer_ones_are() -> None:
    run = build(Row({A: 0.1}, 1), Row({A: 0.2, V: 0.5}, 2), Row({V: 0.4}, 1))
    assert run.frame["step"].to_list() == [1, 2, 1]
    assert run.frame["attempt"].to_list() == [1, 1, 2]


def test_rows_without_a_step_are_counted() -> None:
    assert build(Row({A: 0.1}), Row({A: 0.2}), Row({A: 0.2})).frame["step"].to_list() == [1, 2, 3]


def test_codes_of_what_is_not_finite() -> None:
    run = build(
        Row({A: math.nan, B: math.inf}, 1), Row({A: -math.inf, B: 1.0}, 2), Row({A: None}, 3, nulls_are_nan=True)
    )
    assert run.nonfinite[A].to_list() == [NAN, MINUS_INF, SWALLOWED]
    assert run.nonfinite[B].to_list() == [PLUS_INF, 0, 0]
    assert run.frame[A].null_count() == 3


def test_a_null_of_a_json_logger_counts_also_before_the_first_number() -> None:
    run = build(Row({A: None}, 1, nulls_are_nan=True), Row({A: 0.1}, 2, nulls_are_nan=True))
    assert run.nonfinite[A].to_list() == [SWALLOWED, 0]


def test_a_null_of_a_table_counts_only_after_numbers_without_a_gap() -> None:
    dense = [Row({A: None if step == 3 else 0.1}, step) for step in (1, 2, 3, 4)]
    assert build(*dense).nonfinite[A].to_list() == [0, 0, SWALLOWED, 0]
    sparse = [Row({A: 0.1, V: 0.5 if step % 3 == 0 else None}, step) for step in range(9)]
    assert V not in build(*sparse).nonfinite.columns


def test_a_value_never_overwrites_a_lost_one_of_the_same_step() -> None:
    run = build(Row({A: None, B: 1.0}, 1, nulls_are_nan=True), Row({A: 0.1, V: 0.2}, 1))
    assert run.nonfinite[A].to_list() == [SWALLOWED, 0]


def test_time_of_a_row_is_the_first_that_is_known() -> None:
    run = build(Row({A: 0.1}, 1), Row({V: 0.1}, 1, 7.0), Row({A: 0.2}, 2, 8.0), Row({V: 0.2}, 2, 9.0))
    assert run.frame["time"].to_list() == [7.0, 8.0]


def test_config_of_a_higher_part_wins_whenever_it_comes() -> None:
    low, high = ConfigRead({"a": 1, "b": 1}, user=True, where="log"), ConfigRead({"a": 2}, user=False, where="run.json")
    for order in ((low, high), (high, low)):
        builder = RunBuilder("log", "test", canonical)
        for event in order:
            builder.add([event], 1 if event is high else 0)
        config = builder.build().config
        assert (dict(config.values), set(config.user), config.where) == (
            {"a": 2, "b": 1},
            {"a", "b"},
            ("log", "run.json"),
        )


def test_a_framework_learnt_late_maps_names_from_then_on() -> None:
    run = build(Meta(framework="trl"), Row({"reward": 0.5}, 1))
    assert run.metrics == (canonical("reward", "trl"),)


def test_a_fork_takes_nothing_back() -> None:
    builder = RunBuilder("log", "test", canonical)
    builder.add([Row({A: 0.1}, 1), Line("error: one", 1), Note("n")])
    fork = builder.fork()
    more: list[Event] = [
        Row({A: 0.2, B: math.nan}, 2),
        Row({A: 9.0}, 1),
        Line("error: two", 2),
        Happened("x"),
        Note("m"),
    ]
    fork.add([*more, ConfigRead({"a": 1}, False, "w"), SampleRead({}), ManifestRead({"a": 1}), Meta(framework="verl")])
    plain = builder.build()
    assert (plain.frame.height, plain.metrics, len(plain.lines), plain.events, plain.notes) == (1, (A,), 1, (), ("n",))
    assert (dict(plain.config.values), plain.samples, plain.manifest, plain.source.framework) == ({}, (), {}, "")
    assert fork.build().frame["attempt"].to_list() == [1, 1, 2]
    builder.add([Row({A: 0.2}, 2)])
    assert builder.build().frame[A].to_list() == [0.1, 0.2]


def test_a_hundred_thousand_metrics_in_a_row() -> None:
    run = build(Row({f"metric/{number}": float(number) for number in range(100_000)}, 1))
    assert len(run.metrics) == 100_000
    assert run.frame["metric/99999"].to_list() == [99999.0]


@pytest.mark.slow
def test_cost_grows_with_the_rows_and_not_with_their_square() -> None:
    def seconds(count: int) -> float:
        made = [Row({f"m/{number}": step * 0.5 for number in range(100)}, step) for step in range(count)]
        started = time.process_time()
        build(*made)
        return time.process_time() - started

    small, large = min(seconds(1000) for _ in range(3)), min(seconds(8000) for _ in range(2))
    assert large < 16 * small


def test_what_a_console_announces_does_not_replace_the_manifest() -> None:
    builder = RunBuilder("log", "test", canonical)
    builder.add([ManifestRead({"status": "finished", "total_steps": 40})], part=3)
    other = builder.fork()
    other.add([ManifestRead({"total_steps": 39, "seen": 1})], part=0)
    assert other.build().manifest == {"status": "finished", "total_steps": 40, "seen": 1}
    other.add([ManifestRead({"status": "failed"})], part=3)
    assert other.build().manifest == {"status": "failed", "total_steps": 39, "seen": 1}
    assert builder.build().manifest == {"status": "finished", "total_steps": 40}
