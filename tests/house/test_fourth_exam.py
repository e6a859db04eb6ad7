"""The fourth paper answers all that it asks, asks the same each time, and writes logs that hold what they must."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.readers import open_runs

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def exam(exam_modules) -> SimpleNamespace:
    return exam_modules("fourth", "catalogue", "host", "logs", "plan", "worlds")


def test_every_fault_has_a_source_and_an_answer_among_the_cards(exam):
    cards = {card.name for card in installed_cards()}
    key = exam.scoring.key(exam.plan.KEY)
    assert {fault.name for fault in exam.catalogue.FAULTS} == set(key)
    assert all(set(right["found"]) <= cards and right["source"] for right in key.values())
    assert {name for pair in exam.plan.PAIRS for name in pair} <= set(key)


def test_real_logs_are_there_and_their_answers_are_cards(exam):
    cards = {card.name for card in installed_cards()}
    real = yaml.safe_load((ROOT / "benchmarks/exams/fourth/real.yaml").read_text("utf-8"))
    for path, right in real.items():
        assert (ROOT / path).exists() and right["said"], path
        assert sum(name in right for name in ("found", "quiet", "refused")) == 1, path
        assert set(right.get("found", ())) | set(right.get("may", ())) <= cards, path


def test_the_paper_asks_the_same_each_time_and_shows_what_it_asks(exam):
    one, two = (next(exam.plan.items(1, 0, 0)) for _ in range(2))
    assert (one.name, one.dialect, one.onsets) == (two.name, two.dialect, two.onsets)
    assert np.array_equal(one.table["critic/score/mean"], two.table["critic/score/mean"])
    assert one.faults == ("update_too_large",)
    assert "actor/ppo_kl" in exam.logs.kept(one.table, one.dialect)


@pytest.mark.parametrize(
    "dialect", ["jsonl", "slim", "old-console", "np-console", "trl", "trl-state", "openrlhf", "slime", "csv"]
)
def test_every_logger_is_read_with_its_score_on_every_step(exam, tmp_path, dialect):
    host = exam.host.finished(exam.worlds.build("math", 20, np.random.default_rng(1)))
    run = open_runs(exam.files.write(host, tmp_path, dialect, True))[0]
    assert "critic/score/mean" in run.metrics and "response_length/mean" in run.metrics
    assert run.rows in (20, 21)  # some begin with a validation


def test_times_and_tokens_follow_from_a_fault(exam):
    host = exam.worlds.build("math", 20, np.random.default_rng(1))
    host["timing_s/gen"] = host["timing_s/gen"] * 3
    before, gained = host["timing_s/step"].copy(), 2 * host.before["timing_s/gen"]
    exam.host.finished(host)
    assert np.allclose(host["timing_s/step"], before + gained)
    assert (host["perf/throughput"] < host.before["perf/throughput"]).all()
