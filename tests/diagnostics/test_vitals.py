"""Vital signs: portable ranges, scores, trends, on recordings and on small made-up runs."""

from pathlib import Path

import pytest

from klinic.diagnostics.engine.vitals import SignsState, definitions, profile_ranges, trend, with_ranges
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Row, RunBuilder
from klinic.diagnostics.verlconfig import facts

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "sample_logs"
ORDER = ["pg_loss", "ppo_kl", "vf_loss", "score", "throughput"]
HEALTHY_LINE = {
    "actor/pg_loss": -0.005,
    "actor/ppo_kl": 0.0008,
    "critic/vf_loss": 0.072,
    "critic/score/mean": 0.682,
    "perf/throughput": 1024.0,
}


def run_of(rows, decimals=None, first=1):
    builder = RunBuilder("made", "test", lambda name, framework: name)
    builder.add(Row(row, step=first + index, decimals=decimals or {}) for index, row in enumerate(rows))
    return builder.build()


def vitals(run, profile="default"):
    signs = with_ranges(definitions(), profile_ranges(profile))
    state = SignsState(signs, facts(run))
    state.feed(run, run.frame.height)
    return {vital.name: vital for vital in state.vitals(run)}


def series(metric, values):
    return [{metric: value} for value in values]


def test_the_five_signs_stand_in_their_order():
    assert [sign.name for sign in definitions()] == ORDER


@pytest.mark.parametrize("profile", ["default", "seed"])
def test_the_published_healthy_line_is_healthy(profile):
    found = vitals(run_of([HEALTHY_LINE], first=120), profile)
    assert {name: (vital.status, vital.score) for name, vital in found.items()} == dict.fromkeys(
        ORDER, ("healthy", 100)
    )


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("pg_loss", -0.0009, "watch"),
        ("pg_loss", 0.0001, "sick"),
        ("pg_loss", -0.03, "watch"),
        ("pg_loss", -0.051, "sick"),
        ("ppo_kl", 0.0002, "watch"),
        ("ppo_kl", 0.00009, "sick"),
        ("ppo_kl", 0.015, "watch"),
        ("ppo_kl", 0.021, "sick"),
        ("vf_loss", 0.2, "watch"),
        ("vf_loss", 0.31, "sick"),
        ("score", 0.5, "watch"),
        ("score", 0.95, "watch"),
        ("score", 0.39, "sick"),
        ("throughput", 500.0, "watch"),
        ("throughput", 299.0, "sick"),
    ],
)
def test_seed_is_the_published_table_with_both_bounds(name, value, status):
    metric = {sign.name: sign.metric for sign in definitions()}[name]
    found = vitals(run_of([{**HEALTHY_LINE, metric: value}], first=120), "seed")
    assert found[name].status == status
    assert [other for other in ORDER if found[other].status != "healthy"] == [name]


@pytest.mark.parametrize(
    ("metric", "name", "values", "status"),
    [
        ("actor/ppo_kl", "ppo_kl", [0.001] * 40, "healthy"),
        ("actor/ppo_kl", "ppo_kl", [0.001] * 40 + [0.015] * 5, "watch"),
        ("actor/ppo_kl", "ppo_kl", [0.001] * 40 + [0.5] * 5, "sick"),
        ("actor/ppo_kl", "ppo_kl", [4.9, 3.0, 2.0, 3.0, 4.0, 3.5], "sick"),
        ("actor/ppo_kl", "ppo_kl", [0.006] * 40 + [0.015] * 5, "healthy"),
        ("actor/ppo_kl", "ppo_kl", [-0.5] * 45, "sick"),
        ("critic/vf_loss", "vf_loss", [14.0, 12.0, 9.0], "healthy"),
        ("critic/vf_loss", "vf_loss", [14.0] * 60, "sick"),
        ("critic/score/mean", "score", [0.5, 0.52, 0.48] * 14 + [0.05] * 6, "sick"),
        ("critic/score/mean", "score", [0.0] * 9, "healthy"),
        ("critic/score/mean", "score", [0.0] * 12, "sick"),
        ("critic/score/mean", "score", [-3.0, -2.9, -3.1, -2.8] * 10, "healthy"),
        ("perf/throughput", "throughput", [200.0] * 40, "healthy"),
        ("perf/throughput", "throughput", [200.0] * 40 + [120.0] * 6, "watch"),
        ("perf/throughput", "throughput", [200.0] * 40 + [60.0] * 6, "sick"),
        ("actor/pg_loss", "pg_loss", [6.0, 7.0, 5.0, 6.5] * 12, "healthy"),
        ("actor/pg_loss", "pg_loss", [0.01, -0.01, 0.02] * 15 + [2.0] * 6, "sick"),
    ],
)
def test_ranges_follow_the_run(metric, name, values, status):
    assert vitals(run_of(series(metric, values)))[name].status == status


def test_the_value_loss_is_held_against_the_span_of_the_rewards():
    row = {"critic/score/max": 5.0, "critic/score/min": -5.0, "critic/score/mean": 0.0, "critic/vf_loss": 10.0}
    assert vitals(run_of([row] * 60))["vf_loss"].status == "healthy"
    assert vitals(run_of([{**row, "critic/score/max": 1.0, "critic/score/min": 0.0}] * 60))["vf_loss"].status == "sick"


def test_three_printed_decimals_cannot_show_a_small_kl():
    rough = run_of(series("actor/ppo_kl", [0.0] * 40), decimals={"actor/ppo_kl": 3})
    found = vitals(rough)["ppo_kl"]
    assert (found.status, found.low) == ("healthy", None)
    coarse = run_of(series("actor/ppo_kl", [0.0] * 40 + [0.02] * 5), decimals={"actor/ppo_kl": 2})
    assert vitals(coarse)["ppo_kl"].status == "watch"
    assert vitals(run_of(series("actor/ppo_kl", [0.0] * 40 + [0.025] * 5)))["ppo_kl"].status == "sick"


def test_what_is_not_logged_is_unknown():
    found = vitals(run_of(series("actor/ppo_kl", [0.001] * 30)))
    assert found["vf_loss"].status == "unknown"
    assert found["vf_loss"].score is None
    assert found["vf_loss"].value is None
    assert found["vf_loss"].spark == ()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_metric_that_ends_non_finite_is_sick(bad):
    found = vitals(run_of(series("actor/pg_loss", [0.01, -0.01] * 10 + [bad])))["pg_loss"]
    assert (found.status, found.score, found.spark[-1]) == ("sick", 0, None)
    assert found.note == "not finite at 1 of 21 steps, the last one included"


def test_a_single_bad_value_is_noted():
    found = vitals(run_of(series("actor/pg_loss", [0.01, float("nan"), *[-0.01] * 10])))["pg_loss"]
    assert (found.status, found.note) == ("healthy", "not finite at 1 of 12 steps")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0], "unknown"),
        ([1.0] * 10, "flat"),
        ([0.0] * 10, "flat"),
        ([float(value) for value in range(20)], "rising"),
        ([0.5 - 0.02 * value for value in range(20)], "falling"),
        ([0.5, 0.6, 0.4, 0.55, 0.45, 0.6, 0.4, 0.5, 0.58, 0.42], "flat"),
    ],
)
def test_trend_is_the_change_beyond_scatter(values, expected):
    assert trend(values) == expected


def test_a_long_run_is_drawn_in_forty_values():
    found = vitals(run_of(series("critic/score/mean", [0.1 + index / 1000 for index in range(435)])))["score"]
    assert len(found.spark) == 40
    assert list(found.spark) == sorted(found.spark)


@pytest.mark.parametrize(
    ("path", "name", "status"),
    [
        ("h200/ppo_lr_too_high/metrics.jsonl", "score", "sick"),
        ("h200/grpo_reward_always_zero/metrics.jsonl", "score", "sick"),
        ("h200/grpo_lr1e-4_degradation/metrics.jsonl", "score", "sick"),
        ("h200/ppo_killed/metrics.jsonl", "score", "healthy"),
        ("h200/ppo_resumed/metrics.jsonl", "vf_loss", "healthy"),
        ("prototype/grpo_healthy_wobbly/metrics.jsonl", "vf_loss", "unknown"),
    ],
)
def test_recordings(path, name, status):
    assert vitals(open_run(LOGS / path))[name].status == status


def test_a_healthy_recording_is_healthy_in_every_sign_at_every_step():
    run = open_run(LOGS / "prototype/grpo_healthy_wobbly/metrics.jsonl")
    for rows in range(1, run.frame.height + 1):
        for vital in vitals(run.head(rows)).values():
            assert vital.status in ("healthy", "unknown"), (rows, vital)


def test_the_reference_run_is_never_sick_in_a_sign():
    run = open_run(LOGS / "public/verl_ppo_qwen2.5_0.5b_gsm8k/console.log.gz")
    assert run.frame.height == 435
    for rows in range(1, 436, 7):
        for vital in vitals(run.head(rows)).values():
            assert vital.status != "sick", (rows, vital)
            assert vital.score is None or vital.score >= 80, (rows, vital)
