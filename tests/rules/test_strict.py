"""The profile for continuous integration: quiet on healthy runs, never milder nor later than the default."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Diagnosis, Severity
from klinic.diagnostics.engine.notation import run_from_series
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Run

pytestmark = pytest.mark.slow

LOGS = Path(__file__).parents[2] / "sample_logs"
SHORT = ["healthy/ppo-cpu-s1", "prototype/grpo_healthy_wobbly", "h200/ppo_killed", "h200/ppo_resumed"]
SICK = ["h200/ppo_lr_too_high", "h200/ppo_critic_lr_too_high", "h200/grpo_lr1e-4_degradation"]


@cache
def recorded(name: str) -> Run:
    return open_run(LOGS / name)


def loud(found: Diagnosis) -> dict[str, tuple[Severity, int]]:
    return {one.name: (one.peak, one.first_step) for one in found.findings if one.peak >= Severity.WARN}


@pytest.mark.parametrize("name", SHORT)
def test_short_healthy_runs_pass(name: str) -> None:
    found = diagnose(recorded(name), profile="strict")
    assert found.verdict == "healthy" and loud(found) == {}


@pytest.mark.parametrize("name", SICK)
def test_it_is_never_milder_nor_later_and_says_more(name: str) -> None:
    usual, strict = (loud(diagnose(recorded(name), profile=profile)) for profile in ("default", "strict"))
    for rule, (peak, first) in usual.items():
        assert strict[rule][0] >= peak and strict[rule][1] <= first
    assert set(strict) > set(usual) or any(strict[rule] > usual[rule] for rule in usual)


@pytest.mark.parametrize(
    ("rule", "series"),
    [
        ("update-too-large", {"actor/ppo_kl": "0.002~0.0002x20 0.015~0.001x5", "actor/pg_clipfrac": "0.01x25"}),
        ("grad-norm-spike", {"actor/grad_norm": "1~0.05x40 9 1~0.05x3 9 1~0.05x5"}),
        ("truncation-high", {"response_length/clip_ratio": "0.02x10 0.2x6", "response_length/max": "512x16"}),
        ("throughput-drop", {"perf/throughput": "1000~20x30 600~20x20"}),
        ("rollout-mismatch", {"training/rollout_probs_diff_mean": "0.015x16"}),
    ],
)
def test_what_the_default_remarks_on_warns(rule: str, series: dict[str, str]) -> None:
    run = run_from_series({"series": series})
    usual, strict = (loud(diagnose(run, profile=profile)) for profile in ("default", "strict"))
    assert rule not in usual and strict[rule][0] == Severity.WARN
