"""Judging: levels, k of n, episodes, evidence, attempts, what is not applicable; pieces equal one block."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.engine.card import Card, CardError, card_from
from klinic.diagnostics.engine.judge import Judge, Judgement, judge
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.notation import run_from_series
from klinic.diagnostics.engine.overrides import with_overrides
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import PlainFacts

KL, VAL = "actor/ppo_kl", "val-core/a/acc/mean@1"


def card(levels: dict[str, Any], name: str = "sample", **more: Any) -> Card:
    thresholds = {"floor": {"value": 0.5, "unit": "nats/token", "source": "test"}}
    return card_from(
        {
            "id": name.upper(),
            "name": name,
            "kind": "metric",
            "levels": levels,
            "thresholds": thresholds,
            "summary": "it is high",
        }
        | more
    )


def series(text: str, **more: Any) -> Run:
    return run_from_series({"series": {KL: text}, **more})


HIGH = {"warn": {"when": "'actor/ppo_kl' > floor", "for": {"k": 3, "of": 5}}}
LEVELS = {
    "info": {"when": "'actor/ppo_kl' > floor"},
    "warn": {"when": "med('actor/ppo_kl', 3) > 2 * floor", "for": {"k": 2, "of": 3}},
    "error": {"when": "'actor/ppo_kl' > 5 and med('actor/ppo_kl', 3) > 1"},
}


def test_k_of_n_fires_at_the_kth_row_and_begins_at_the_first() -> None:
    judged = judge(series("0x10 1 0 1 1 0x10"), [card(HIGH)]).of("sample")
    assert judged.severity.to_list() == [0] * 13 + [2, 2] + [0] * 9
    (finding,) = judged.findings
    assert (finding.first_step, finding.last_step, finding.episodes) == (11, 15, ((11, 15),))
    assert (finding.severity, finding.peak, finding.closed) == (Severity.NONE, Severity.WARN, True)


def test_unknown_rows_neither_count_nor_reset() -> None:
    judged = judge(series("1 1 _x20 nan 1 _ _ 0x5"), [card(HIGH)]).of("sample")
    assert judged.severity.to_list()[20:28] == [0, 0, 0, 2, 2, 2, 2, 2]
    assert judged.findings[0].first_step == 1


def test_evals_count_rows_with_a_validation_only() -> None:
    levels = {"warn": {"when": "'actor/ppo_kl' > floor", "for": {"k": 2, "of": 2, "unit": "evals"}}}
    run = run_from_series({"series": {KL: "1x12", VAL: "_x4 0.1 _x4 0.1 _x2"}})
    assert judge(run, [card(levels)]).of("sample").severity.to_list() == [0] * 9 + [2] * 3


def test_the_highest_level_that_fires_is_the_severity() -> None:
    judged = judge(series("0x5 0.6 2x4 9 2 0.6 0x3"), [card(LEVELS)]).of("sample")
    assert judged.severity.to_list() == [0] * 5 + [1, 1, 1, 2, 2, 3, 2, 2, 2, 0, 0]
    (finding,) = judged.findings
    assert finding.peak == Severity.ERROR and finding.first_step == 6


def test_evidence_names_the_worst_value_with_operator_bound_and_unit() -> None:
    levels = {"warn": {"when": "kl > floor and not absent('actor/ppo_kl')"}}
    (finding,) = judge(series("0x5 0.6 0.9 0.7"), [card(levels, let={"kl": "abs('actor/ppo_kl')"})]).findings
    first, second, third = finding.evidence
    assert (first.text, first.value, first.op, first.bound, first.unit, first.step) == (
        "|actor/ppo_kl|", 0.9, ">", 0.5, "nats/token", 7,
    )  # fmt: skip
    assert (second.text, second.value, second.bound) == ("not absent(actor/ppo_kl)", None, None)
    assert (second.step, third.step) == (6, 7)


def test_only_comparisons_that_hold_are_evidence() -> None:
    levels = {"warn": {"when": "'actor/ppo_kl' > floor or 'actor/ppo_kl' < -1"}}
    (finding,) = judge(series("0x5 0.6"), [card(levels)]).findings
    assert [(one.op, one.bound) for one in finding.evidence] == [(">", 0.5)]


def test_episodes_of_an_attempt_are_one_finding_and_attempts_are_told_apart() -> None:
    run = series("0 1 0 1 1 1 0 1", steps="1+1x5 3+1x3")
    first, second = judge(run, [card({"warn": {"when": "'actor/ppo_kl' > floor"}})]).findings
    assert (first.attempt, first.episodes, first.closed) == (1, ((2, 2), (4, 5)), True)
    assert (second.attempt, second.episodes, second.closed) == (2, ((3, 3), (5, 5)), False)


def test_a_new_attempt_starts_counting_anew() -> None:
    run = series("0 1 1 1 0 0", steps="1+1x3 2+1x3")
    judged = judge(run, [card(HIGH)]).of("sample")
    assert judged.state == "quiet"


def test_not_applicable_names_what_is_missing() -> None:
    cards = [
        card(HIGH, "needy", needs=["actor/ppo_kl", "actor/entropy | actor/entropy_loss"]),
        card(HIGH, "choosy", applies="U >= 2"),
        card(HIGH, "curious", applies="algorithm == 'gae'"),
        card({"warn": {"when": "z('actor/ppo_kl') > 4"}}, "patient"),
        card(HIGH, "fine", needs=["actor/*"]),
    ]
    judgement = judge(series("0x8"), cards, PlainFacts(U=1))
    assert {one.name: one.missing for one in judgement.not_applicable} == {
        "needy": "actor/entropy | actor/entropy_loss",
        "choosy": "judged only where U >= 2",
        "curious": "unknown whether algorithm == 'gae'",
        "patient": "too few values",
    }
    assert judgement.of("fine").state == "quiet"


def test_overrides_change_thresholds_and_levels() -> None:
    run = series("0.4x5")
    plain = card({"warn": {"when": "'actor/ppo_kl' > floor"}})
    assert judge(run, [plain]).findings == ()
    assert judge(run, [plain], overrides={"SAMPLE": {"floor": 0.3}}).findings[0].peak == Severity.WARN
    changed = {"sample": {"warn": None, "error": {"when": "'actor/ppo_kl' > 0.1"}}}
    assert judge(run, [plain], overrides=changed).findings[0].peak == Severity.ERROR
    for wrong, hint in (
        ({"SAMPEL": {}}, "SAMPLE"),
        ({"SAMPLE": {"flor": 1}}, "floor"),
        ({"SAMPLE": {"floor": "x"}}, "not a number"),
    ):
        with pytest.raises(CardError, match=hint):
            with_overrides([plain], wrong)


def test_a_judge_refuses_a_gap() -> None:
    judging = Judge([card(HIGH)])
    judging.feed(series("0x5"), 0)
    with pytest.raises(ValueError, match="stands at row 5, not 7"):
        judging.feed(series("0x9"), 7)


def test_a_run_without_rows() -> None:
    judged = judge(Run(), [card(HIGH, needs=["actor/ppo_kl"])]).of("sample")
    assert (judged.state, judged.missing, judged.severity.len()) == ("not_applicable", "actor/ppo_kl", 0)


cells = st.one_of(st.none(), st.sampled_from([0.0, 0.6, 2.0, 9.0, math.nan]))
rows = st.tuples(cells, st.one_of(st.none(), st.none(), st.floats(0, 1, width=32)), st.booleans())
CARDS = [
    card(HIGH, "high"),
    card(LEVELS, "levels"),
    card({"warn": {"when": "outcome_fell() or 'actor/ppo_kl' > 5", "for": {"k": 2, "of": 4}}}, "outcome"),
    card({"info": {"when": "nonfinite('actor/ppo_kl', 3) >= 1"}}, "nonfinite", applies="U >= 2", needs=["actor/*"]),
    card({"warn": {"when": "any_of('val-core/*', it < 0.5)", "for": {"k": 2, "of": 2, "unit": "evals"}}}, "evals"),
]


def built(data: list[tuple[float | None, float | None, bool]]) -> Run:
    attempts, steps, attempt, step = [], [], 1, 0
    for _, _, restart in data:
        again = restart and step > 3 and attempt < 4
        attempt, step = (attempt + 1, step - 2) if again else (attempt, step + 1)
        attempts.append(attempt)
        steps.append(step)
    finite = [None if value is None or math.isnan(value) else value for value, _, _ in data]
    frame = pl.DataFrame(
        {
            "step": pl.Series(steps, dtype=pl.Int64),
            "time": pl.Series([None] * len(data), dtype=pl.Float64),
            "attempt": pl.Series(attempts, dtype=pl.Int64),
            KL: pl.Series(finite, dtype=pl.Float64),
            VAL: pl.Series([value for _, value, _ in data], dtype=pl.Float64),
        }
    )
    flags = pl.Series(KL, [int(value is not None and math.isnan(value)) for value, _, _ in data], dtype=pl.Int8)
    return Run(frame=frame, nonfinite=pl.DataFrame([flags]))


def prefix(run: Run, height: int) -> Run:
    return Run(frame=run.frame[:height], nonfinite=run.nonfinite[:height])


def told(judgement: Judgement) -> list[Any]:
    return [(one.state, one.missing, one.severity.to_list(), one.episodes, one.findings) for one in judgement.cards]


@settings(max_examples=60, deadline=None)
@given(data=st.lists(rows, min_size=1, max_size=50), cuts=st.lists(st.integers(1, 50), max_size=8))
def test_fed_in_any_pieces_the_judgement_is_the_same_at_every_prefix(data: Any, cuts: list[int]) -> None:
    run = built(data)
    live = Judge(CARDS)
    for height in sorted({*(cut for cut in cuts if cut < len(data)), len(data)}):
        seen = prefix(run, height)
        assert told(live.judge(seen)) == told(judge(seen, CARDS))


@settings(max_examples=25, deadline=None)
@given(data=st.lists(rows, min_size=2, max_size=40))
def test_what_was_said_of_a_row_is_not_taken_back(data: Any) -> None:
    run = built(data)
    whole = judge(run, CARDS)
    for height in range(1, len(data)):
        early = judge(prefix(run, height), CARDS)
        for then, now in zip(early.cards, whole.cards, strict=True):
            assert then.severity.to_list() == now.severity.to_list()[:height]
            onsets = [(episode.attempt, episode.onset) for episode in then.episodes]
            assert onsets == [(episode.attempt, episode.onset) for episode in now.episodes][: len(onsets)]


def test_evidence_of_a_list_names_the_metrics_for_which_it_holds_with_their_values() -> None:
    levels = {"warn": {"when": "sunk", "for": {"k": 1, "of": 1, "unit": "evals"}}}
    sunk = "any_of('val-core/*', count(it) >= 2 and it < floor * best(it, 1))"
    made = card(levels, let={"sunk": sunk}, needs=["val-core/*"])
    run = run_from_series({"series": {KL: "0x6", "val-core/a": "0.8 _ 0.8 _ 0.3 _", "val-core/b": "0.9 _ 0.9 _ 0.9 _"}})
    (finding,) = judge(run, [made]).findings
    told = [(one.text, one.value, one.op, one.bound, one.seen) for one in finding.evidence]
    assert told == [
        ("count(val-core/a)", 3, ">=", 2, (("val-core/a", 0.3),)),
        ("val-core/a", 0.3, "<", 0.4, (("val-core/a", 0.3),)),
    ]
    assert finding.evidence[1].expression == "'val-core/a'"


def test_a_bound_that_is_a_multiple_of_a_threshold_has_not_its_unit() -> None:
    made = card({"warn": {"when": "'actor/ppo_kl' > floor * first('actor/ppo_kl', 1)"}})
    (finding,) = judge(series("2x5 1.5"), [made]).findings
    assert (finding.evidence[0].bound, finding.evidence[0].unit) == (1.0, "")
