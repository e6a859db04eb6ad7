"""Generated runs: judged without an error, alike in any order of columns, a prefix as it was live."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from klinic.diagnostics import report
from klinic.diagnostics.engine.diagnose import between, diagnose, installed_cards
from klinic.diagnostics.engine.judge import Judge
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.report import json as json_report
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.run import Line, Row, Run, RunBuilder
from klinic.diagnostics.run.events import ConfigRead, Event
from klinic.diagnostics.verlconfig import facts

pytestmark = pytest.mark.slow  # hundreds of generated runs

SCHEMA = json.loads((Path(report.__path__[0]) / "schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
METRICS = (
    "actor/entropy", "actor/grad_norm", "actor/ppo_kl", "actor/pg_clipfrac", "actor/pg_loss", "actor/kl_loss",
    "actor/lr", "critic/score/mean", "critic/score/max", "critic/score/min", "critic/rewards/mean",
    "critic/advantages/mean", "critic/vf_loss", "critic/vf_explained_var", "response_length/mean",
    "response_length/max", "response_length/clip_ratio", "timing_s/step", "timing_s/gen", "perf/throughput",
    "training/rollout_probs_diff_mean", "rollout_corr/kl", "val-core/a/acc/mean@1",
)  # fmt: skip
ODD = (0.0, -1.0, 1.7e308, -1.7e308, 5e-324, math.nan, math.inf, -math.inf, None, 10**400)
SHAPES: dict[str, Callable[[int, random.Random], Any]] = {
    "random": lambda row, luck: luck.gauss(0, 1),
    "rate": lambda row, luck: luck.random(),
    "drifting": lambda row, luck: 0.5 + 0.02 * row + 0.1 * luck.random(),
    "collapsing": lambda row, luck: max(0.0, 0.8 - 0.03 * row),
    "constant": lambda row, luck: 0.3,
    "zero": lambda row, luck: 0.0,
    "alternating": lambda row, luck: (-1.0) ** row,
    "huge": lambda row, luck: 1e300 * luck.random(),
    "exploding": lambda row, luck: 10.0 ** min(row * 6, 308),
    "tiny": lambda row, luck: 1e-300 * luck.random(),
    "sparse": lambda row, luck: luck.random() if row % 10 == 0 else math.inf if row % 35 == 0 else "missing",
}
CONFIGS: tuple[dict[str, Any], ...] = (
    {},
    {"algorithm.adv_estimator": "gae", "data.train_batch_size": 64, "trainer.total_training_steps": 30},
    {"algorithm.adv_estimator": "grpo", "actor_rollout_ref.rollout.n": 8, "actor_rollout_ref.actor.optim.lr": 1e-3},
    {"algorithm.adv_estimator": 7, "data.train_batch_size": "many", "trainer.total_training_steps": -1},
)
TEXTS = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.70 GiB.",
    "OSError: [Errno 28] No space left on device",
    "NotImplementedError: Reward function is not implemented for data_source='x'",
    "an ordinary line",
)
ARRIVALS = st.lists(st.integers(1, 25), min_size=1, max_size=3)


@st.composite
def recordings(draw: st.DrawFn) -> list[Event]:
    """A config, up to 60 rows of some metrics each with a shape and odd values, lines of text, restarts."""
    luck = random.Random(draw(st.integers(0, 2**32)))
    names = draw(st.lists(st.sampled_from(METRICS), min_size=1, max_size=len(METRICS), unique=True))
    shapes = {name: SHAPES[draw(st.sampled_from(sorted(SHAPES)))] for name in names}
    height, odd = draw(st.integers(1, 60)), draw(st.sampled_from((0.0, 0.05, 0.5)))
    events: list[Event] = [ConfigRead(draw(st.sampled_from(CONFIGS)), user=True, where="generated")]
    step = 0
    for row in range(height):
        step = luck.choice((0, 1, max(step - 3, 1))) if luck.random() < 0.02 else step + 1
        events.append(_row(step, {name: _value(shapes[name](row, luck), odd, luck) for name in names}))
        if luck.random() < 0.03:
            events.append(Line(luck.choice(TEXTS), len(events)))
    return events


def _value(value: Any, odd: float, luck: random.Random) -> Any:
    return luck.choice((*ODD, "missing")) if luck.random() < odd else value


def _row(step: int, values: dict[str, Any]) -> Row:
    return Row({name: value for name, value in values.items() if value != "missing"}, step, nulls_are_nan=True)


def shuffled(events: list[Event], order: random.Random) -> list[Event]:
    """The same events, the columns of each row in another order."""

    def mixed(row: Row) -> Row:
        names = order.sample(list(row.values), len(row.values))
        return Row({name: row.values[name] for name in names}, row.step, nulls_are_nan=True)

    return [mixed(event) if isinstance(event, Row) else event for event in events]


def built(events: list[Event]) -> Run:
    builder = RunBuilder("generated", "jsonl", canonical)
    builder.add(events)
    return builder.build()


def said(found: Diagnosis) -> list[tuple[Any, ...]]:
    return [(f.name, f.severity, f.first_step, f.last_step, f.root_cause) for f in found.findings]


def judged_if_rows(run: Run) -> Diagnosis | None:
    return diagnose(run) if run.metrics and run.frame.height else None


def numbers_of(found: Diagnosis) -> Iterator[float | None]:
    for finding in found.findings:
        yield from (part.value for part in finding.evidence)
    for sign in found.vitals:
        yield from (sign.value, sign.low, sign.high)


def wrong(events: list[Event]) -> list[str]:
    """What is wrong in the report of a run: numbers that are not finite, places where it leaves the schema."""
    run = built(events)
    found = judged_if_rows(run)
    if found is None:
        return []
    odd = [f"{number} is not finite" for number in numbers_of(found) if not (number is None or math.isfinite(number))]
    document = json.loads(json_report.render([Judged(run, found)]))
    return [*odd, *(f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document))]


@settings(max_examples=34, deadline=None, derandomize=True)
@given(recordings())
def test_any_run_is_judged_and_reported_as_the_schema_says(events: list[Event]) -> None:
    assert wrong(events) == []


@pytest.mark.long
@settings(max_examples=1000, deadline=None)
@given(recordings())
def test_any_of_many_runs_is_judged_and_reported(events: list[Event]) -> None:
    assert wrong(events) == []


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_a_run_of_one_shape_is_judged(shape: str) -> None:
    luck = random.Random(1)
    assert wrong([_row(row + 1, {name: SHAPES[shape](row, luck) for name in METRICS}) for row in range(60)]) == []


@settings(max_examples=12, deadline=None, derandomize=True)
@given(recordings(), st.integers(0, 1000))
def test_the_order_of_columns_does_not_matter(events: list[Event], seed: int) -> None:
    one, other = judged_if_rows(built(events)), judged_if_rows(built(shuffled(events, random.Random(seed))))
    assert (one is None) is (other is None)
    if one and other:
        assert (said(one), one.health, one.incidents) == (said(other), other.health, other.incidents)


@settings(max_examples=16, deadline=None, derandomize=True)
@given(recordings(), ARRIVALS)
def test_a_prefix_is_judged_as_it_was_live(events: list[Event], arrivals: list[int]) -> None:
    """A recording that grows, judged by one lasting judge, says at each moment what the prefix says on its own."""
    growing, judge, last = RunBuilder("generated", "jsonl", canonical), None, 0
    for more in arrivals:
        growing.add(events[last : last + more])
        last = min(last + more, len(events))
        live, prefix = growing.fork().build(), built(events[:last])
        now = judged_if_rows(live)
        if now is None:
            continue
        assert now == judged_if_rows(prefix)
        judge = judge or Judge(installed_cards(), facts(live))
        assert judge.judge(live).findings == Judge(installed_cards(), facts(prefix)).judge(prefix).findings


@settings(max_examples=10, deadline=None, derandomize=True)
@given(recordings(), st.integers(1, 60))
def test_a_look_back_says_what_was_said_then(events: list[Event], last: int) -> None:
    """Rows of later steps change nothing in what is said of the first ones: every signal looks back only."""
    events = [event for event in events if not isinstance(event, Line)]
    rows = [event for event in events if isinstance(event, Row)]
    steps = [row.step for row in rows]
    assume(steps == sorted(set(steps)) and last <= len(rows))
    whole, known = built(events), {name for row in rows[:last] for name in row.values}
    assume(known)
    then = built([events[0], *rows[:last]])
    assume(then.metrics)
    assert said(diagnose(between(whole, None, rows[last - 1].step))) == said(diagnose(then))
