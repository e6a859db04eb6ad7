"""What is left of a card's episodes at the last step."""

from dataclasses import replace

import pytest

from klinic.diagnostics.engine.episodes import Episode
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.severity import Outcome, outcome_of, severity_now
from klinic.diagnostics.run import Row, RunBuilder
from klinic.diagnostics.verlconfig import facts

NONE, INFO, WARN, ERROR = Severity.NONE, Severity.INFO, Severity.WARN, Severity.ERROR


def episode(first, last, peak, now=NONE, attempt=1):
    return Episode(attempt, first, first, last, peak, first, now, closed=now is NONE)


def outcome(*values):
    return Outcome(tuple(range(len(values))), values)


FLAT = outcome(*[0.5, 0.52, 0.48, 0.51, 0.5] * 8)
FELL = outcome(*[0.5, 0.52, 0.48, 0.51, 0.5] * 4, *[0.1, 0.12, 0.1, 0.11, 0.1] * 4)
ROSE = outcome(*[0.1, 0.12, 0.1, 0.11, 0.1] * 4, *[0.5, 0.52, 0.48, 0.51, 0.5] * 4)
NOTHING = Outcome()


@pytest.mark.parametrize(
    ("episodes", "result", "expected"),
    [
        ([episode(18, 20, ERROR)], FLAT, INFO),
        ([episode(18, 20, ERROR)], ROSE, INFO),
        ([episode(18, 20, ERROR)], FELL, ERROR),
        ([episode(18, 20, WARN)], FELL, WARN),
        ([episode(18, 20, INFO)], FELL, INFO),
        ([episode(10, 12, ERROR), episode(18, 20, WARN)], FLAT, ERROR),
        ([episode(10, 39, ERROR, now=ERROR)], FLAT, ERROR),
        ([episode(10, 39, ERROR, now=WARN)], FLAT, WARN),
        ([episode(10, 39, ERROR, now=INFO)], FLAT, INFO),
        ([episode(10, 39, ERROR, now=INFO)], FELL, ERROR),  # it has eased because nothing is left to be lost
        ([episode(10, 39, ERROR, now=WARN)], FELL, ERROR),
        ([episode(25, 39, ERROR, now=INFO)], FELL, INFO),  # the outcome had fallen before
        ([episode(5, 6, INFO), episode(10, 39, ERROR, now=INFO)], FELL, ERROR),
        ([episode(5, 6, ERROR), episode(30, 39, WARN, now=WARN)], FLAT, ERROR),
        ([episode(5, 6, INFO), episode(30, 39, WARN, now=WARN)], FLAT, WARN),
        ([episode(0, 4, ERROR)], FLAT, INFO),
        ([episode(0, 4, ERROR)], FELL, ERROR),
        ([episode(18, 39, ERROR)], FELL, INFO),
        ([episode(18, 20, ERROR)], NOTHING, INFO),
    ],
)
def test_only_what_passed_once_and_cost_nothing_is_information(episodes, result, expected):
    assert severity_now(episodes, result) is expected


def test_a_fall_within_the_first_values_is_no_recovery():
    assert severity_now([episode(1, 9, ERROR)], outcome(0.25, *[0.0] * 20)) is ERROR


def test_a_remark_that_became_worse_later_is_held_against_the_best_until_then():
    learned = outcome(*[0.1, 0.12, 0.1, 0.11, 0.1] * 4, *[0.5, 0.52, 0.48, 0.51, 0.5] * 4, *[0.12, 0.1, 0.11] * 5)
    early = Episode(1, 10, 10, 54, ERROR, 39, INFO)
    assert severity_now([early], learned) is ERROR
    assert severity_now([replace(early, peaked=12)], learned) is INFO


def test_a_dip_within_three_standard_errors_counts_as_held():
    values = (0.7, 0.7, 0.7, 0.6, 0.6, 0.6)
    assert Outcome(tuple(range(6)), values, trials=128).held(episode(2, 2, WARN))
    assert not Outcome(tuple(range(6)), values, trials=20_000).held(episode(2, 2, WARN))


def test_rewards_without_a_scale_are_held_against_their_own_scatter():
    steady = outcome(*[30.0, 31.0, 29.0, 30.5] * 5, *[28.0, 29.0, 27.5, 28.5] * 5)
    assert steady.held(episode(18, 19, WARN))
    assert not outcome(*[30.0, 31.0, 29.0, 30.5] * 5, *[20.0, 21.0, 19.0, 20.5] * 5).held(episode(18, 19, WARN))


def run_of(rows):
    builder = RunBuilder("made", "test", lambda name, framework: name)
    builder.add(Row(row, step=step) for step, row in enumerate(rows))
    return builder.build()


def test_the_outcome_is_validation_once_it_has_two_values_else_the_score():
    score = [{"critic/score/mean": 0.1 * step} for step in range(6)]
    one = [{**row, **({"val-core/gsm8k/acc/mean@1": 0.4} if step == 0 else {})} for step, row in enumerate(score)]
    two = [{**row, **({"val-core/gsm8k/acc/mean@1": 0.4} if step % 5 == 0 else {})} for step, row in enumerate(score)]
    for rows, expected in ((score, 6), (one, 6), (two, 2)):
        run = run_of(rows)
        assert len(outcome_of(run, facts(run)).values) == expected
    run = run_of(two)
    assert list(outcome_of(run, facts(run)).rows) == [0, 5]
    assert outcome_of(run_of([{"actor/lr": 1.0}]), facts(run)) == Outcome()
