"""The evidence of a list of metrics: a whole reading words it as rows that came one by one do."""

from __future__ import annotations

import pytest

from klinic.diagnostics.engine.card import Card, card_from
from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.engine.judge import Judge
from klinic.diagnostics.engine.model import Finding
from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.run import Row, RunBuilder
from klinic.diagnostics.verlconfig import facts

A, B = "val-core/a/acc/mean@1", "val-core/b/acc/mean@1"
LISTED = card_from(
    {
        "id": "SAMPLE",
        "name": "sample",
        "kind": "metric",
        "levels": {"warn": {"when": "any_of('val-core/*', count(it) >= 2 and it < floor)"}},
        "thresholds": {"floor": {"value": 0.5, "unit": "share", "source": "test"}},
        "summary": "it is low",
    }
)
# Two trainings: the second one begins from scratch at step 1, and its list is met in another order.
ROWS = (
    (1, {B: 0.9}), (2, {B: 0.2}), (3, {A: 0.8, B: 0.1}), (4, {A: 0.3, B: 0.1}),
    (1, {A: 0.9}), (2, {A: 0.4, B: 0.7}), (3, {A: 0.1, B: 0.2}),
)  # fmt: skip


def findings(cards: list[Card], sizes: list[int]) -> list[Finding]:
    builder, last = RunBuilder("made", "jsonl", canonical), 0
    judge: Judge | None = None
    for size in sizes:
        builder.add([Row({"actor/entropy": 0.5, **values}, step) for step, values in ROWS[last : last + size]])
        last += size
        run = builder.fork().build()
        judge = judge or Judge(cards, facts(run))
        judged = judge.judge(run)
    return list(judged.findings)


@pytest.mark.parametrize("sizes", [[1] * 7, [3, 4], [4, 3], [5, 2], [1, 6], [6, 1]], ids=str)
@pytest.mark.parametrize("cards", [[LISTED], installed_cards()], ids=["sample", "installed"])
def test_what_held_for_a_list_is_worded_alike_however_rows_came(cards: list[Card], sizes: list[int]) -> None:
    whole = findings(cards, [len(ROWS)])
    assert whole and findings(cards, sizes) == whole


def test_evidence_of_a_training_that_another_one_followed_names_the_metric() -> None:
    texts = [[part.text for part in finding.evidence] for finding in findings([LISTED], [len(ROWS)])]
    assert [any(A in text or B in text for text in some) for some in texts] == [True, True]


PATIENT = card_from(
    {
        "id": "PATIENT",
        "name": "patient",
        "kind": "metric",
        "levels": {"warn": {"when": "'actor/ppo_kl' > limit", "for": {"k": 2, "of": 3, "unit": "steps"}}},
        "thresholds": {"limit": {"value": 0.2, "unit": "nats/token", "source": "test"}},
        "summary": "it is high",
    }
)


@pytest.mark.parametrize("sizes", [[5], [1] * 5, [1, 4], [2, 3], [3, 2]], ids=str)
def test_evidence_tells_the_worst_value_even_where_the_rule_was_not_yet_sure(sizes: list[int]) -> None:
    builder, judge, found = RunBuilder("made", "jsonl", canonical), None, None
    values, last = [4.9, 0.9, 4.0, 0.5, 0.1], 0
    for size in sizes:
        builder.add([Row({"actor/ppo_kl": values[row]}, row + 1) for row in range(last, last + size)])
        last, run = last + size, builder.fork().build()
        judge = judge or Judge([PATIENT], facts(run))
        found = judge.judge(run)
    assert found is not None
    (finding,) = found.findings
    assert [(one.value, one.step) for one in finding.evidence] == [(4.9, 1)]
