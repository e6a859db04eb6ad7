from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klinic.diagnostics.signals import ExpressionError, evaluate, parse_requirement

TRANSLATED = {
    "critic/score/mean[-10:].mean() >= 0.6": "mean('critic/score/mean', 10) >= 0.6",
    "critic/score/mean [ -10: ] . median() >= .6": "med('critic/score/mean', 10) >= .6",
    "critic/score/mean.max() > 1e-5": "max('critic/score/mean', run) > 1e-5",
    "val-core/openai/gsm8k/acc/mean@1.last() >= 0.7": "last('val-core/openai/gsm8k/acc/mean@1') >= 0.7",
    "actor/ppo_kl < 0.02 and reward > 0": "'actor/ppo_kl' < 0.02 and 'reward' > 0",
    "best(critic/score/mean, k=5) > 2*base('critic/score/mean')": (
        "best('critic/score/mean', k=5) > 2*base('critic/score/mean')"
    ),
    "response_length/clip_ratio[-3:].max()<.5": "max('response_length/clip_ratio', 3)<.5",
    "actor/pg_loss*2 > -1": "'actor/pg_loss'*2 > -1",
    "any_of(val-core/*, it > 0.5)": "any_of('val-core/*', it > 0.5)",
    "not outcome_fell()": "not outcome_fell()",
    "step() > 10 and U >= 2": "step() > 10 and U >= 2",
}
WRONG = {
    "actor/ppo_kl[-5:] > 1": (13, ".mean()"),
    "1 < actor/ppo_kl.meen()": (18, "did you mean 'mean'"),
    "actor/ppo_kl[-5:].meen() > 1": (19, "did you mean 'mean'"),
    "1 > 0 and medd(actor/ppo_kl, 5) > 1": (11, "did you mean 'med'"),
    "critic/score/mean >= ": (21, "ends too early"),
    "": (1, "empty"),
    "critic/score/mean": (1, "is not a comparison"),
    "critic/score/mean > 1 > )": (25, "unmatched"),
    "critic/score/mean[-0:].mean() > 1": (1, "whole number from 1"),
}


@pytest.mark.parametrize("text", TRANSLATED)
def test_a_typed_requirement_becomes_an_expression(text: str) -> None:
    assert parse_requirement(text).expression == TRANSLATED[text]


@pytest.mark.parametrize("text", WRONG)
def test_errors_name_the_column_in_the_text_as_typed(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_requirement(text)
    column, words = WRONG[text]
    assert caught.value.column == column
    assert words in str(caught.value)


def test_sides_of_a_comparison(make_run: Callable[..., Any]) -> None:
    run = make_run({"critic/score/mean": [0.1, 0.2, 0.6, 0.8]})
    requirement = parse_requirement("critic/score/mean[-2:].mean() >= 0.6")
    assert requirement.left is not None and requirement.right is not None and requirement.op == ">="
    assert evaluate(requirement.left, run).to_list() == [None, pytest.approx(0.15), 0.4, 0.7]
    assert evaluate(requirement.right, run).to_list() == [0.6] * 4
    assert evaluate(requirement.node, run).to_list() == [None, False, False, True]


@given(st.text(alphabet="abk/.[]()-:0159'\"<>= &|+*@_,\n\t\\µ", max_size=40))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        parse_requirement(text)
    except ExpressionError as error:
        assert 1 <= error.column <= len(text) + 2
