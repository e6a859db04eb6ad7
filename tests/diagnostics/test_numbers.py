"""Numbers of a log or config that no 64 bits hold: they end no report, and stay numbers."""

from __future__ import annotations

import json
import math

import pytest

from klinic.dashboards.store.entry import Entry
from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.remedy import RemedyError, evaluate
from klinic.diagnostics.engine.wording import worded
from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.report.base import Judged, formats, load
from klinic.diagnostics.report.jsontext import written
from klinic.diagnostics.run import Config, Line, Row, Run, RunBuilder
from klinic.diagnostics.run.events import ConfigRead, ManifestRead
from klinic.diagnostics.verlconfig import facts
from klinic.trainer.stream.encode import indented

ODD = (2**63, 2**64, -(10**30), 10**400, 10**5000, math.inf, math.nan, 1e300, [2**70], {"a": 2**70})
KEYS = (
    "trainer.total_training_steps", "trainer.total_epochs", "data.train_batch_size", "data.max_response_length",
    "actor_rollout_ref.rollout.n", "actor_rollout_ref.actor.ppo_mini_batch_size",
    "actor_rollout_ref.actor.optim.lr_warmup_steps", "actor_rollout_ref.actor.optim.lr", "trainer.my_own",
)  # fmt: skip
METRICS = ("response_length/max", "response_length/mean", "prompt_length/max", "actor/entropy", "critic/score/mean")


def made(odd: object) -> Run:
    builder = RunBuilder("generated", "jsonl", canonical)
    builder.add([
        ConfigRead({"algorithm.adv_estimator": "grpo", **dict.fromkeys(KEYS, odd)}, user=True, where="generated"),
        ManifestRead({"total_steps": odd, "data": {"train_rows": odd}, "hardware": {"gpu_memory_gb": odd}}),
        Line(f"Total training steps: {'9' * 5000}", 1),
        *(Row(dict.fromkeys(METRICS, 1e+25 if step % 3 else 0.5) | {"response_length/clip_ratio": 0.9}, step)
          for step in range(1, 30)),
    ])  # fmt: skip
    return builder.build()


@pytest.mark.parametrize(
    "odd", ODD, ids=lambda odd: str(odd)[:12] if not isinstance(odd, int) else f"{odd.bit_length()} bits"
)
def test_a_config_of_such_numbers_is_reported_in_every_format(odd: object) -> None:
    run = made(odd)
    case = Judged(run, diagnose(run))
    told = {name: load(name)([case], color=False, width=80) for name in formats() if name not in ("html", "png")}
    assert all(told.values())
    assert json.loads(told["json"])["run"]["steps"] == {"first": 1, "last": 29, "rows": 29}


def test_they_stay_numbers_as_floats_hold_them() -> None:
    config = Config({"a": 10**30, "b": -(10**400), "c": 2**64 - 1, "d": [2**70, "x"], "e": True})
    assert config.values == {"a": 1e30, "b": -math.inf, "c": 2**64 - 1, "d": [2.0**70, "x"], "e": True}
    assert type(config.values["c"]) is int and config.values["e"] is True
    assert json.loads(written({"a": [2**70, math.nan, "\ud800"], 1: 2})) == {"a": [2.0**70, None, "?"], "1": 2}
    assert json.loads(indented({"a": 2**70})) == {"a": 2**70}


def test_facts_hold_none_of_them() -> None:
    known = facts(made(10**30))
    assert (known.total_steps, known.train_rows, known.n) == (None, None, None)


def test_a_dashboard_takes_no_such_plan_for_a_number_of_steps() -> None:
    assert Entry.total.func(type("Held", (), {"run": made(math.inf)})()) is None


@pytest.mark.parametrize("value", [1e19, -1e25, 1e300])
def test_none_of_them_is_prescribed_for_a_key_of_whole_numbers(value: float) -> None:
    with pytest.raises(RemedyError, match="gives"):
        evaluate("signal('x')", 512, {}.get, whole=True, signal=lambda text: value)
    assert evaluate("signal('x')", 512, {}.get, whole=True, signal=lambda text: 1e18) == 10**18


@pytest.mark.parametrize("number", [float("nan"), 1e300, 10**18])
def test_divisors_of_what_no_batch_has_are_not_sought(number: float) -> None:
    with pytest.raises(RemedyError):
        evaluate("divisor_of(cfg('x'))", 10**18, {"x": number}.get, whole=True)


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("Choose {heads:divisors}.", "12", "Choose 1, 2, 3, 4, 6 or 12."),
        ("Choose {heads:divisors}.", "9" * 40, "Choose ?."),
        ("Choose {heads:divisors}.", "0", "Choose ?."),
        ("Free it[[; {free:room}]].", "1.2.3", "Free it."),
        ("Free it[[; {free:room}]].", "1.0", "Free it."),
    ],
)
def test_a_function_of_a_text_that_can_make_nothing_of_a_number_leaves_it_out(text: str, value: str, said: str) -> None:
    assert worded(text, {"heads": value, "free": value, "total": "0"}, Config({})) == said
