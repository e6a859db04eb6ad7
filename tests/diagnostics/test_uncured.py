"""Where no setting cures what was found, a report says so, and which reward function it was seen in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.report import markdown, text
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.json import as_object
from klinic.diagnostics.report.uncured import uncured
from klinic.diagnostics.run import Config

H200 = Path(__file__).parents[2] / "sample_logs" / "h200"


def judged(name: str) -> Judged:
    run = open_run(H200 / name)
    return Judged(run, diagnose(run))


@pytest.mark.parametrize(
    ("name", "rule", "function"),
    [("grpo_nan_reward", "nan-inf", "nan_sometimes"), ("grpo_reward_always_zero", "reward-always-zero", "always_zero")],
)
def test_the_reward_function_is_named(name: str, rule: str, function: str) -> None:
    case = judged(name)
    said, reward = uncured(case)
    assert said.startswith(f"No config change cures {rule}:")
    assert reward.startswith(f"The reward is computed by {function} in ") and reward.endswith("by hand.")
    assert as_object(case)["uncured"] == [said, reward]
    assert function in text.render([case]) and function.replace("_", "\\_") in markdown.render([case])


def test_nothing_is_said_beside_a_prescription_or_without_a_config_or_of_other_frameworks() -> None:
    case = judged("grpo_reward_always_zero")
    assert as_object(judged("ppo_lr_too_high"))["uncured"] == []
    assert uncured(judged("ppo_lr_too_high")) == [] and uncured(judged("ppo_resumed")) == []
    assert uncured(replace(case, run=replace(case.whole, config=Config()))) == []
    trl = replace(case.whole, source=replace(case.whole.source, framework="trl"))
    assert uncured(replace(case, run=trl)) == []
