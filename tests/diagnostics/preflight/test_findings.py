"""Each mistake that verl accepts or refuses is found, and only it; a launch in order has no finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.preflight import Report

DATA = Path(__file__).parents[2] / "data" / "preflight"
MISTAKES = yaml.safe_load((DATA / "mistakes.yaml").read_text("utf-8"))
REFUSED = yaml.safe_load((DATA / "refused.yaml").read_text("utf-8"))

Judge = Callable[..., Report]


def test_a_launch_in_order_has_no_finding(judge: Judge) -> None:
    assert judge().found == ()


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: f"{case['name']} {' '.join(case['over'])}"[:90])
def test_a_mistake_is_found(judge: Judge, case: dict) -> None:
    hits = [one for one in judge(*case["over"]).found if one.name == case["name"]]
    assert len(hits) == 1
    assert hits[0].severity >= (Severity.INFO if hits[0].id.startswith("CFG") else Severity.WARN)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case['name']} {' '.join(case['over'])}"[:90])
def test_what_verl_refuses_is_an_error(judge: Judge, case: dict) -> None:
    found = {one.name: one for one in judge(*case["over"]).found}
    assert case["name"] in found
    assert case["name"] == "key-unread" or found[case["name"]].severity is Severity.ERROR


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: f"{case['name']} {' '.join(case['over'])}"[:90])
def test_what_is_to_be_written_mends_it(judge: Judge, case: dict) -> None:
    """Where a finding says what to write, the finding is gone once it is written."""
    from klinic.diagnostics.verlconfig.overrides import override

    found = next(one for one in judge(*case["over"]).found if one.name == case["name"])
    gone = {one.key for text in found.write if (one := override(text)) is not None}
    kept = [text for text in case["over"] if text.lstrip("+").partition("=")[0] not in gone]
    put = [text for text in found.write if not text.startswith("~")]
    after = {one.name for one in judge(*kept, *put).found}
    assert not found.write or case["name"] not in after or case["name"] == "kl-coef-inert", after


@pytest.mark.parametrize(
    ("model", "lr", "severity"),
    [
        ("Qwen/Qwen2.5-0.5B-Instruct", "1e-4", "warn"),  # in the table of models
        ("Qwen/Qwen2.5-0.5B-Instruct", "5e-6", None),
        ("tiny", "1e-4", None),  # klinic's own model, its folder says how small it is
        ("tiny", "1e-2", "warn"),
        ("somebody/unheard-of", "1e-4", "info"),  # it may be tiny
        ("somebody/unheard-of", "1e-1", "warn"),  # right for none
    ],
)
def test_a_learning_rate_is_judged_by_the_size_of_the_model(
    judge: Judge, tiny_model: Path, model: str, lr: str, severity: str | None
) -> None:
    path = str(tiny_model) if model == "tiny" else model
    report = judge(f"actor_rollout_ref.actor.optim.lr={lr}", f"actor_rollout_ref.model.path={path}")
    found = [one for one in report.found if one.name == "learning-rate-unusual"]
    assert [str(one.severity) for one in found] == ([severity] if severity else [])
    assert severity != "info" or "somebody/unheard-of is cannot be told" in found[0].message
