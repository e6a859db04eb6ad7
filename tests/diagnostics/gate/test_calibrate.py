"""Thresholds fitted to healthy runs: leave one seed out, judge it; loosen what healthy runs touch; the command."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from klinic.diagnostics.cli import main
from klinic.diagnostics.engine.card import card_from
from klinic.diagnostics.engine.diagnose import diagnose, installed_cards
from klinic.diagnostics.engine.judge import judge
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.overrides import with_overrides
from klinic.diagnostics.engine.vitals import definitions
from klinic.diagnostics.gate.calibrate import MOST, Calibration, calibrate
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Row, Run, RunBuilder
from klinic.diagnostics.verlconfig import facts

pytestmark = pytest.mark.slow

LOGS = Path(__file__).resolve().parents[3] / "sample_logs"
SEEDS = ("ppo-cpu-s1", "ppo-cpu-s2", "ppo-cpu-s3")
CARD = card_from(
    {
        "id": "TST1",
        "name": "half-full",
        "kind": "metric",
        "levels": {"warn": {"when": "'perf/x' > most"}},
        "thresholds": {"most": {"value": 1.0, "unit": "share", "source": "made"}},
    }
)


@cache
def healthy(name: str) -> Run:
    return open_run(LOGS / "healthy" / name)


@cache
def fitted(left_out: str) -> Calibration:
    return calibrate([healthy(name) for name in SEEDS if name != left_out], installed_cards(), definitions())


def made(*values: float) -> Run:
    builder = RunBuilder("made", "test", lambda name, framework: name)
    builder.add([Row({"perf/x": value}, step=step) for step, value in enumerate(values, 1)])
    return builder.build()


@pytest.mark.parametrize("left_out", SEEDS)
def test_a_seed_that_was_left_out_stays_quiet_on_every_row(left_out: str) -> None:
    found, run = fitted(left_out), healthy(left_out)
    assert found.rules
    assert found.loud == ()
    cards = with_overrides(installed_cards(), found.rules)
    loud = [one.card.name for one in judge(run, cards, facts(run)).cards if (one.severity > Severity.INFO).any()]
    assert loud == []


@pytest.mark.parametrize("left_out", SEEDS)
def test_its_vital_signs_lie_in_the_fitted_ranges(left_out: str) -> None:
    ranges = fitted(left_out).vitals
    assert {"throughput", "score"} <= {*ranges}
    vitals = {vital.name: vital.value for vital in diagnose(healthy(left_out)).vitals}
    for name, bounds in ranges.items():
        value = vitals[name]
        assert value is not None
        assert bounds["healthy"].get("low", value) <= value <= bounds["healthy"].get("high", value)


@pytest.mark.parametrize("fault", ["response-cap-too-short-s1", "actor-lr-too-high-s1", "critic-lr-too-low-s1"])
def test_a_fault_of_the_same_recipe_is_found_as_before_or_sooner(fault: str) -> None:
    run = open_run(LOGS / "faults" / fault)
    before, after = (diagnose(run, overrides=rules) for rules in ({}, fitted("ppo-cpu-s3").rules))
    assert (after.verdict, after.root_cause) == (before.verdict, before.root_cause)
    roots = [next(f.first_step for f in one.findings if f.id == one.root_cause) for one in (before, after)]
    assert roots[1] <= roots[0]


def test_what_healthy_runs_touch_is_loosened_and_a_step_more() -> None:
    found = calibrate([made(0.5, 1.2), made(0.9, 1.1)], [CARD], [])
    assert found.rules == {"half-full": {"most": 1.5}}
    assert found.why == {"half-full": "most was 1"}


@pytest.mark.parametrize(
    ("values", "most"), [((0.5, 0.4), None), ((0.25, 0.15), 0.577), ((0.06, 0.05), 1 / MOST), ((0.001, 0.001), None)]
)
def test_what_they_stay_far_from_is_drawn_closer_by_the_root_of_it(
    values: tuple[float, ...], most: float | None
) -> None:
    rules = calibrate([made(*values), made(*values)], [CARD], []).rules
    assert rules == ({} if most is None else {"half-full": {"most": pytest.approx(most, rel=0.01)}})


def test_what_is_an_error_stays_one() -> None:
    data = {**CARD.data, "levels": {"error": {"when": "'perf/x' > most"}}}
    assert calibrate([made(0.06, 0.05)] * 2, [card_from(data)], []).rules == {}


def test_a_card_that_no_threshold_quiets_is_named() -> None:
    assert calibrate([made(1e6), made(1e6)], [CARD], []).loud == ("half-full",)


def test_the_command_writes_a_profile_that_diagnose_takes(tmp_path: Path) -> None:
    paths = [str(LOGS / "healthy" / name) for name in SEEDS[:2]]
    done = CliRunner().invoke(main, ["calibrate", *paths, "--name", "cpu", "--out", str(tmp_path / "cpu.yaml")])
    assert (done.exit_code, done.stdout) == (0, "")
    written = yaml.safe_load((tmp_path / "cpu.yaml").read_text("utf-8"))
    assert written["name"] == "cpu"
    assert written["rules"] == {name: dict(values) for name, values in fitted("ppo-cpu-s3").rules.items()}
    judged = CliRunner().invoke(
        main, ["diagnose", str(LOGS / "healthy" / SEEDS[2]), "--profile", str(tmp_path / "cpu.yaml")]
    )
    assert judged.exit_code == 0
    assert judged.stdout.startswith("healthy")


@pytest.mark.parametrize(
    ("names", "said"), [(["ppo-cpu-s1"], "2 healthy ones"), (["ppo-cpu-s1", "grpo-cpu-s1"], "these are of gae, grpo")]
)
def test_runs_that_cannot_be_used_are_refused_in_a_line(tmp_path: Path, names: list[str], said: str) -> None:
    paths = [str(LOGS / "healthy" / name) for name in names]
    done = CliRunner().invoke(main, ["calibrate", *paths, "--out", str(tmp_path / "x.yaml")])
    assert done.exit_code == 2
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "x.yaml").exists()
