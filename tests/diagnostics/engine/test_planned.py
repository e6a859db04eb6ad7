"""A run that has a config and no rows yet: config cards judge it, metric cards say that they cannot."""

from __future__ import annotations

import pytest

from klinic.diagnostics.engine import diagnose as diagnosing
from klinic.diagnostics.engine.judge import Judge
from klinic.diagnostics.engine.library import all_cards
from klinic.diagnostics.engine.notation import run_from_series
from klinic.diagnostics.engine.planned import planned

SMALL = {"data.train_max_samples": 64, "data.train_batch_size": 1024}
CARDS = all_cards()


def test_the_config_alone_is_diagnosed_and_treated() -> None:
    told = diagnosing.diagnose(run_from_series({"series": {}, "config": SMALL}))
    assert told.verdict == "sick" and told.root_cause == "CFG03"
    assert told.story == "The training data holds fewer prompts than one batch, before the first step."
    (finding,) = [one for one in told.findings if one.id == "CFG03"]
    assert [(one.value, one.op, one.bound) for one in finding.evidence] == [(64, "<", 1024)]
    assert told.prescription[0].key == "data.train_max_samples"
    reasons = {one.name: one.missing for one in told.not_applicable}
    assert reasons["update-too-large"] == "no metrics in the log" and "save_freq" in reasons["disk-growth"]


def test_nothing_to_say_of_a_good_config_is_said_in_one_line() -> None:
    run = run_from_series({"series": {}, "config": {**SMALL, "data.train_max_samples": -1}})
    with pytest.raises(diagnosing.JudgeError, match="no metrics and no known incident"):
        diagnosing.diagnose(run)


def test_rows_that_come_later_are_judged_from_the_first_on() -> None:
    judge = Judge(CARDS)
    before = judge.judge(run_from_series({"series": {}, "config": SMALL})).of("CFG03")
    run = run_from_series({"series": {"actor/pg_loss": "0.1x3"}, "config": SMALL})
    after = judge.judge(run).of("CFG03")
    assert [one.first_step for one in before.findings] == [0]
    assert [(one.first_step, one.last_step) for one in after.findings] == [(1, 3)]
    assert after.severity.to_list() == [3, 3, 3]


def test_a_run_with_rows_or_without_a_config_stays_as_it_is() -> None:
    for case in ({"series": {"actor/pg_loss": "0.1x3"}, "config": SMALL}, {"series": {}}):
        run = run_from_series(case)
        assert planned(run) is run
