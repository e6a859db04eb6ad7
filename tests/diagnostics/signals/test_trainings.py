"""A training that begins from scratch in the same log: every signal begins anew, a resume carries on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from klinic.diagnostics.engine.episodes import Episode
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.severity import outcome_of
from klinic.diagnostics.run import Happened, Run
from klinic.diagnostics.signals import Block, Evaluator, PlainFacts, Scope, compile_text, evaluate

Make = Callable[..., Run]
SCORES = [0.8, 0.8, 0.8, 0.8, 0.1, 0.2, 0.1, 0.2]
ATTEMPTS = [1, 1, 1, 1, 2, 2, 2, 2]


def values(run: Run, text: str) -> list[Any]:
    return evaluate(compile_text(text, Scope()), run).to_list()


@pytest.mark.parametrize(
    ("text", "scratch", "resumed"),
    [
        ("max('critic/score/mean', run)", 0.2, 0.8),
        ("count('critic/score/mean')", 4, 8),
        ("rows()", 4, 8),
        ("boundary()", 3, 3),
        ("first('critic/score/mean', 1)", 0.1, 0.8),
        ("any_of('critic/*', max(it, run) > 0.5)", False, True),
        ("max(outcome(), run)", 0.2, 0.8),
    ],
)
def test_signals_begin_anew_from_scratch_only(make_run: Make, text: str, scratch: Any, resumed: Any) -> None:
    columns = {"critic/score/mean": SCORES}
    anew = make_run(columns, attempt=ATTEMPTS, step=[1, 2, 3, 4, 1, 2, 3, 4])
    later = make_run(columns, attempt=ATTEMPTS, step=[1, 2, 3, 4, 3, 4, 5, 6])
    assert (values(anew, text)[-1], values(later, text)[-1]) == (scratch, resumed)


@pytest.mark.parametrize("cut", range(1, 8))
def test_pieces_give_what_the_whole_gives(make_run: Make, cut: int) -> None:
    run = make_run({"critic/score/mean": SCORES}, attempt=ATTEMPTS, step=[0, 1, 2, 3, 0, 1, 2, 3])
    node = compile_text("med('critic/score/mean', 3) + rows() + boundary()", Scope())
    evaluator, found = Evaluator([node]), []
    for first, last in ((0, cut), (cut, 8)):
        evaluator.advance(Block(run, first, last, PlainFacts()))
        found += evaluator.stream(node).series(last - first).to_list()
    assert found == evaluate(node, run).to_list()


def test_harm_is_measured_within_the_training_of_the_episode(make_run: Make) -> None:
    run = make_run({"critic/score/mean": SCORES}, attempt=ATTEMPTS, step=[1, 2, 3, 4, 1, 2, 3, 4])
    outcome = outcome_of(run, PlainFacts())
    assert outcome.starts == (4,)
    warn = Severity.WARN
    assert outcome.held(Episode(2, onset=5, opened=5, last=6, peak=warn, peaked=5, severity=warn, closed=True))


def test_a_rescue_begins_anew_though_it_takes_up_a_checkpoint(make_run: Make) -> None:
    columns = {"critic/score/mean": SCORES}
    run = make_run(columns, attempt=ATTEMPTS, step=[1, 2, 3, 4, 3, 4, 5, 6])
    times = pl.Series("time", [10.0 * row for row in range(8)])
    timed = replace(run, frame=run.frame.with_columns(times))
    rescued = replace(timed, events=(Happened("rescue", 2, 35.0),))
    early = replace(timed, events=(Happened("rescue", 2, 15.0),))
    text = "max('critic/score/mean', run)"
    assert [values(each, text)[-1] for each in (timed, rescued, early)] == [0.8, 0.2, 0.8]
