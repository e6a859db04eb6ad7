"""The outcome: validation once there is enough of it, the score before; falls, plateaus and rises beyond noise."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Values = Callable[..., list[Any]]
SCORE, VAL, REWARD = "critic/score/mean", "val-core/a/acc/mean@1", "val-core/a/reward/mean@1"


def noisy(level: Callable[[int], float], rows: int, spread: float = 0.01) -> list[float]:
    draws = random.Random(7)
    return [level(row) + draws.gauss(0, spread) for row in range(rows)]


def every(step: int, values: list[float]) -> list[float | None]:
    return [cell for value in values for cell in [None] * (step - 1) + [value]]


def test_score_until_the_second_validation(value_of: Values) -> None:
    columns = {SCORE: [1, 2, 3, 4, 5], VAL: [None, 0.1, None, 0.2, None]}
    assert value_of("outcome()", **columns) == [1, 2, 3, 0.2, 0.2]


def test_an_accuracy_goes_before_a_reward(value_of: Values) -> None:
    columns = {REWARD: [5, 6, 7], VAL: [0.1, 0.2, 0.3]}
    assert value_of("outcome()", **columns)[1:] == [0.2, 0.3]


def test_a_signal_of_the_outcome_never_mixes_two_scales(value_of: Values) -> None:
    columns = {SCORE: [100.0] * 6, VAL: [None, None, None, 0.1, 0.2, 0.3]}
    assert value_of("max(outcome(), 5)", **columns) == [100, 100, 100, 100, 0.2, 0.3]


def test_a_collapse_of_the_score_is_a_fall_and_noise_is_none(value_of: Values) -> None:
    calm = noisy(lambda row: 0.6, 60, 0.03)
    assert not any(value_of("outcome_fell()", **{SCORE: calm}))
    fallen = noisy(lambda row: 0.6 if row < 40 else 0.1, 60, 0.03)
    said = value_of("outcome_fell()", **{SCORE: fallen})
    assert not any(said[:40]) and all(said[45:])


def test_validation_falls_beyond_its_standard_error_only(value_of: Values) -> None:
    dipped = every(5, [0.5, 0.6, 0.55, 0.6])
    assert not any(value_of("outcome_fell()", **{VAL: dipped}))
    fallen = every(5, [0.5, 0.6, 0.6, 0.3])
    assert value_of("outcome_fell()", **{VAL: fallen})[-1] is True


def test_three_validations_together_are_surer_than_one(value_of: Values) -> None:
    lower = every(5, [0.6, 0.63, 0.66, 0.66, 0.65, 0.52, 0.52, 0.53])
    assert value_of("outcome_fell()", **{VAL: lower})[-1] is True
    within = every(5, [0.6, 0.63, 0.66, 0.66, 0.65, 0.59, 0.58, 0.59])
    assert not any(value_of("outcome_fell()", **{VAL: within}))


def test_flat_rising_and_at_the_ceiling(value_of: Values) -> None:
    flat, rising, ceiling = (noisy(level, 60) for level in (lambda r: 0.3, lambda r: 0.01 * r, lambda r: 0.98))
    for series, is_flat, is_rising in (
        (flat, True, False),
        (rising, False, True),
        ([min(v, 1) for v in ceiling], False, False),
    ):
        assert value_of("outcome_flat(30)", **{SCORE: series})[-1] is is_flat
        assert value_of("outcome_rose(30)", **{SCORE: series})[-1] is is_rising


def test_a_score_of_zero_all_along_is_flat(value_of: Values) -> None:
    assert value_of("outcome_flat(20)", **{SCORE: [0.0] * 40})[-1] is True


def test_flatness_over_a_window_falls_back_on_the_score_where_validations_are_few(value_of: Values) -> None:
    columns = {SCORE: noisy(lambda r: 0.01 * r, 60), VAL: every(20, [0.3, 0.3, 0.3])}
    assert value_of("outcome_rose(20)", **columns)[-1] is True


def test_validations_that_stand_still_after_a_rise_are_flat_as_soon_as_six_of_them_are(value_of: Values) -> None:
    rising, still = [0.0501 * turn for turn in range(12)], [0.6012] * 6
    said = value_of("outcome_flat(30)", **{VAL: every(5, [*rising, *still])})
    assert said[59] is False and said[-1] is True


def test_neither_flat_validations_nor_a_flat_score_are_enough_where_the_other_moves(value_of: Values) -> None:
    rising, still = noisy(lambda row: 0.01 * row, 60), noisy(lambda row: 0.3, 60)
    for score, evals in ((rising, [0.3001] * 12), (still, [0.0501 * turn for turn in range(12)])):
        said = {name: value_of(f"{name}(30)", **{SCORE: score, VAL: every(5, evals)})[-1] for name in SIGNALS}
        assert said == {"outcome_flat": False, "outcome_rose": True}


SIGNALS = ("outcome_flat", "outcome_rose")
