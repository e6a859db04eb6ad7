"""The fifth paper answers what it asks, asks the same each time, follows from its causes, and writes what it must."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.readers import open_runs

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def exam(exam_modules) -> SimpleNamespace:
    return exam_modules("fifth", "catalogue", "columns", "latent", "plan", "world")


def lived(exam, name, steps=40, **acting):
    """A run of a world under some causes."""
    world, rng = exam.world.WORLDS[name], np.random.default_rng(1)
    host = exam.columns.shown(world, exam.latent.causes(steps) | acting, rng)
    exam.columns.clocked(world, host, rng)
    return exam.columns.timed(world, host)


def test_every_fault_has_a_source_and_an_answer_among_the_cards(exam):
    cards = {card.name for card in installed_cards()}
    key = exam.scoring.key(exam.plan.KEY)
    assert {fault.name for fault in exam.catalogue.FAULTS} == set(key)
    assert all(set(right["found"]) <= cards and right["source"] for right in key.values())
    assert {name for pair in exam.plan.PAIRS for name in pair} <= set(key)


def test_the_paper_asks_the_same_each_time(exam):
    one, two = (next(exam.plan.items(1, 0, 0)) for _ in range(2))
    assert (one.name, one.dialect, one.onsets) == (two.name, two.dialect, two.onsets)
    assert np.array_equal(one.table["critic/score/mean"], two.table["critic/score/mean"])


def test_too_high_a_rate_moves_the_policy_and_costs_skill(exam):
    calm = lived(exam, "vision")
    torn = lived(exam, "vision", rate=np.full(40, 100.0))
    assert torn["actor/ppo_kl"][-5:].mean() > 20 * calm["actor/ppo_kl"][-5:].mean()
    assert torn["critic/score/mean"][-5:].mean() < calm["critic/score/mean"][-5:].mean() - 0.1


def test_a_grader_that_sees_nothing_leaves_no_gradient_of_the_score(exam):
    blind = lived(exam, "long", truth=np.zeros(40))
    assert not blind["critic/score/mean"].any() and not blind["actor/pg_loss"].any()
    assert (blind["groups/zero_std"] == 1).all()


@pytest.mark.parametrize(
    "dialect",
    [
        "jsonl",
        "np-console",
        "trl",
        "openrlhf",
        "slime",
        "nemo",
        "nemo-tensorboard",
        "tensorboard",
        "wandb",
        "wandb-csv",
    ],
)
def test_every_logger_is_read_with_its_score_on_every_step(exam, tmp_path, dialect):
    run = open_runs(exam.files.write(lived(exam, "vision"), tmp_path, dialect, True))[0]
    assert {"critic/score/mean", "response_length/mean"} <= set(run.metrics)
    assert run.rows in (40, 41)  # some begin with a validation
