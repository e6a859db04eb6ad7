"""Derived signals: values worked out by hand, and a recording."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli.explain import explain
from klinic.diagnostics.engine.notation import run_from_series
from klinic.diagnostics.knowledge import MetricInfo, known_patterns, metric
from klinic.diagnostics.knowledge.metrics import derived_patterns, spread
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import PlainFacts, Scope, compile_text, evaluate
from klinic.diagnostics.verlconfig import facts as facts_of

ROOT = Path(__file__).parents[3]
UNKNOWN = None
CAP = {"data.max_response_length": 512}
BATCH = {"data.train_batch_size": 64}

# name, series, config, facts, last value
BY_HAND = [
    ("updates_per_batch", {"actor/ppo_kl": "0"}, {}, {"U": 4.0}, 4.0),
    ("updates_per_batch", {"actor/ppo_kl": "0.004"}, {}, {}, 2.0),
    (
        "kl_sequence",
        {"critic/score/mean": "0.6", "critic/rewards/mean": "0.59", "actor/reward_kl_penalty_coeff": "0.001"},
        {},
        {},
        10.0,
    ),
    ("truncation", {"response_length/clip_ratio": "0.3", "response_length/max": "512"}, CAP, {}, 0.3),
    ("truncation", {"response_length/clip_ratio": "0.3", "response_length/max": "511"}, CAP, {}, 0.0),
    ("truncation", {"response_length/clip_ratio": "0.3x5", "response_length/max": "256x5"}, {}, {}, 0.3),
    ("truncation", {"response_length/clip_ratio": "0.3x5", "response_length/max": "256x4 250"}, {}, {}, 0.0),
    (
        "relative_vf_loss",
        {"critic/vf_loss": "0.1", "critic/score/mean": "0.5", "critic/score/min": "0", "critic/score/max": "1"},
        {},
        {},
        0.8,
    ),
    (
        "relative_vf_loss",
        {"critic/vf_loss": "0.1", "critic/score/mean": "0.5", "critic/score/min": "-1", "critic/score/max": "1"},
        {},
        {},
        UNKNOWN,
    ),
    ("phase_share/gen", {"timing_s/gen": "6", "timing_s/step": "10"}, {}, {}, 0.6),
    ("phase_share/ref", {"timing_s/gen": "6", "timing_s/step": "10"}, {}, {}, UNKNOWN),
    (
        "other_share",
        {"timing_s/gen": "6", "timing_s/update_actor": "2", "timing_s/adv": "0.5", "timing_s/step": "10"},
        {},
        {},
        0.15,
    ),
    ("decode_rate", {"timing_per_token_ms/gen": "0.5"}, {}, {}, 2000.0),
    ("decode_rate", {"response_length/mean": "100", "timing_s/gen": "5"}, BATCH, {"n": 4.0}, 5120.0),
    ("imbalance", {"global_seqlen/balanced_max": "1200", "global_seqlen/mean": "1000"}, {}, {}, 1.2),
    ("length_skew", {"response_length/max": "900", "response_length/mean": "300"}, {}, {}, 3.0),
    ("noise_floor", {"actor/ppo_kl": "0.0001 -0.0003 0.0002"}, {}, {"U": 1.0}, 0.0002),
    ("noise_floor", {"actor/ppo_kl": "0.0001 -0.0003 0.0002"}, {}, {"U": 2.0}, UNKNOWN),
    (
        "uniform_group_prob",
        {"critic/score/mean": "0.5", "critic/score/min": "0", "critic/score/max": "1"},
        {},
        {"n": 4.0},
        0.125,
    ),
    (
        "uniform_group_prob",
        {"critic/score/mean": "0.5", "critic/score/min": "0", "critic/score/max": "1"},
        {},
        {"n": 1.0},
        UNKNOWN,
    ),
    ("no_signal", {"critic/advantages/max": "1 0", "critic/advantages/min": "-1 0"}, {}, {}, 1.0),
    ("no_signal", {"critic/advantages/max": "1 0.5", "critic/advantages/min": "-1 0"}, {}, {}, 0.0),
]


def derived() -> list[MetricInfo]:
    return [info for pattern in derived_patterns() for name in spread(pattern) if (info := metric(name))]


def values(info: MetricInfo, run: Run, facts: PlainFacts | None = None) -> list[float | None]:
    """A value a row, by the formula."""
    formula = compile_text(info.formula, Scope(lets=dict(info.let)), "number")
    return evaluate(formula, run, facts or facts_of(run)).to_list()


@pytest.mark.parametrize(("name", "series", "config", "facts", "expected"), BY_HAND)
def test_by_hand(
    name: str, series: dict[str, str], config: dict[str, int], facts: dict[str, float], expected: float | None
) -> None:
    run = run_from_series({"series": series, "config": config})
    info = metric(f"derived/{name}")
    assert info is not None
    last = values(info, run, PlainFacts(**facts))[-1]
    assert last == (UNKNOWN if expected is UNKNOWN else pytest.approx(expected, abs=1e-12))


def test_every_derived_signal_is_worked_out_by_hand() -> None:
    done = {f"derived/{name}".rsplit("phase_share/", 1)[0] for name, *_ in BY_HAND}
    assert {info.name.rsplit("phase_share/", 1)[0] for info in derived()} == done


def test_each_is_explained_and_has_a_range_or_a_reason() -> None:
    for info in derived():
        assert metric(info.name) == info
        assert len(info.meaning.split()) > 5 and info.unit and info.when and info.formula
        assert (info.low is not None and info.high is not None) != bool(info.no_range)
    assert not any(pattern.startswith("derived/") for pattern in known_patterns())


def test_a_recording() -> None:
    run = open_run(ROOT / "sample_logs" / "h200" / "ppo_lr_too_high")
    found = {info.name: values(info, run) for info in derived()}
    assert set(found["derived/updates_per_batch"]) == {2.0}
    shares = [column for name, column in found.items() if "_share" in name and any(map(_known, column))]
    assert [sum(row) for row in zip(*shares, strict=True) if all(map(_known, row))] == pytest.approx([1.0] * 25)
    assert found["derived/truncation"][-1] == 1.0  # every response is cut once the policy broke
    assert found["derived/kl_sequence"][-1] > 100


def _known(value: float | None) -> bool:
    return value is not None


def test_it_is_explained_with_its_formula() -> None:
    done = CliRunner().invoke(explain, ["derived/truncation"])
    assert done.exit_code == 0 and "Share of responses that were really cut" in done.output
    assert "Computed as" in done.output and "where cap = cfg('data.max_response_length', 0)" in done.output
    assert "'timing_s/ref' / 'timing_s/step'" in CliRunner().invoke(explain, ["derived/phase_share/ref"]).output
