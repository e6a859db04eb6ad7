"""Generated runs: judged without an error, alike in any order of columns, a prefix as it was live."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics import report
from klinic.diagnostics.engine.diagnose import between, diagnose, installed_cards
from klinic.diagnostics.engine.judge import Judge
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.report import json as json_report
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.run import Row, Run, RunBuilder
from klinic.diagnostics.verlconfig import facts

SCHEMA = json.loads((Path(report.__path__[0]) / "schema.json").read_text("utf-8"))
METRICS = (
    "actor/entropy", "actor/grad_norm", "actor/ppo_kl", "actor/pg_clipfrac", "actor/pg_loss", "actor/kl_loss",
    "actor/lr", "critic/score/mean", "critic/score/max", "critic/score/min", "critic/rewards/mean",
    "critic/advantages/mean", "critic/vf_loss", "critic/vf_explained_var", "response_length/mean",
    "response_length/max", "response_length/clip_ratio", "timing_s/step", "timing_s/gen", "perf/throughput",
    "training/rollout_probs_diff_mean", "rollout_corr/kl", "val-core/a/acc/mean@1",
)  # fmt: skip
ODD = (0.0, -1.0, 1.7e308, -1.7e308, 5e-324, math.nan, math.inf, -math.inf, None, 10**400)


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Up to 60 rows of some metrics: a level, noise, a drift, a scale, and odd values now and then."""
    luck = random.Random(draw(st.integers(0, 2**32)))
    names = draw(st.lists(st.sampled_from(METRICS), min_size=1, max_size=len(METRICS), unique=True))
    height, odd = draw(st.integers(1, 60)), draw(st.sampled_from((0.0, 0.05, 0.5)))
    scales = {name: luck.choice((0.0, 1e-6, 0.1, 1.0, 1e6)) for name in names}
    drifts = {name: luck.uniform(-0.05, 0.05) for name in names}

    def value(name: str, row: int) -> Any:
        if luck.random() < odd:
            return luck.choice(ODD)
        return scales[name] * (0.5 + drifts[name] * row + 0.1 * luck.random())

    return [{name: value(name, row) for name in names} for row in range(height)]


def built(table: list[dict[str, Any]], order: random.Random | None = None) -> Run:
    builder = RunBuilder("generated", "jsonl", canonical)
    for step, row in enumerate(table, 1):
        names = list(row)
        if order:
            order.shuffle(names)
        builder.add([Row({name: row[name] for name in names}, step, nulls_are_nan=True)])
    return builder.build()


def said(found: Diagnosis) -> list[tuple[Any, ...]]:
    return [(f.name, f.severity, f.first_step, f.last_step, f.root_cause) for f in found.findings]


@settings(max_examples=12, deadline=None, derandomize=True)
@given(rows())
def test_any_run_is_judged_and_reported_as_the_schema_says(table: list[dict[str, Any]]) -> None:
    run = built(table)
    found = diagnose(run)
    numbers = [one.value for finding in found.findings for one in finding.evidence]
    assert all(number is None or not math.isnan(number) for number in numbers)
    jsonschema.validate(json.loads(json_report.render([Judged(run, found)])), SCHEMA, jsonschema.Draft202012Validator)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(rows(), st.integers(0, 1000))
def test_the_order_of_columns_does_not_matter(table: list[dict[str, Any]], seed: int) -> None:
    one, other = diagnose(built(table)), diagnose(built(table, random.Random(seed)))
    assert (said(one), one.health) == (said(other), other.health)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_prefix_is_judged_as_it_was_live(seed: int) -> None:
    luck = random.Random(seed)
    table = [{name: 0.5 + 0.01 * row * luck.random() for name in METRICS} for row in range(30)]
    run = built(table)
    judge = Judge(installed_cards(), facts(run))
    for last in (1, 7, 19, 30):
        prefix = between(run, None, last)
        live = judge.judge(prefix).findings
        assert live == Judge(installed_cards(), facts(run)).judge(prefix).findings
