"""The language of `try.to`."""

import pytest

from klinic.diagnostics.engine.remedy import Append, Drop, RemedyError, evaluate

CONFIG = {"data.train_batch_size": 96, "actor.mini": 32, "algorithm.name": "gae"}


def new(to, old=None, whole=False):
    return evaluate(to, old, CONFIG.get, whole=whole)


@pytest.mark.parametrize(
    ("to", "old", "whole", "expected"),
    [
        ("old*0.3", 1e-6, False, 3e-7),
        ("old*0.3", 0.005, False, 0.002),
        ("old/2", 7, True, 3),
        ("old/2", 0.2, False, 0.1),
        ("min(old, 0.2)", 0.28, False, 0.2),
        ("max(old*2, 0.001)", 0.0, False, 0.001),
        ("max(1, old*0.3)", 2, True, 1),
        ("0.28", 0.2, False, 0.28),
        ("max(old, 0.28)", 0.2, False, 0.28),
        ("min(old, 0.1)", 1.5e-6, False, 1.5e-6),
        ("max(old, min(old + 0.1, 0.8))", 0.85, False, 0.85),
        (0.28, 0.2, False, 0.28),
        (True, None, False, True),
        ("true", None, False, True),
        ("-1", None, True, -1),
        ("'token'", None, False, "token"),
        ("null", 5, False, None),
        ("drop", 5, False, Drop()),
        ("append('wandb')", ["console"], False, Append("wandb")),
        ("divisor_of(cfg('data.train_batch_size'))", 50, True, 48),
        ("divisor_of(96)", 7, True, 6),
        ("divisor_of(7)", 100, True, 7),
        ("cfg('actor.mini')*2", None, True, 64),
        ("[1, 2]", None, False, [1, 2]),
    ],
)
def test_a_value_is_computed_from_the_runs_own(to, old, whole, expected):
    assert new(to, old, whole) == expected
    assert type(new(to, old, whole)) is type(expected)


@pytest.mark.parametrize(
    ("to", "old", "word"),
    [
        ("old*0.3", None, "unknown"),
        ("cfg('nowhere')*2", None, "nowhere"),
        ("old*", 1.0, "column"),
        ("__import__('os')", 1.0, "not of the language"),
        ("old.real", 1.0, "not of the language"),
        ("min()", 1.0, "min()"),
        ("old*0.3", "gae", "cannot compute"),
        ("old/0", 1.0, "cannot compute"),
        ("(lambda: 1)()", 1.0, "not of the language"),
        ("10.0**400", 1.0, "cannot compute"),
    ],
)
def test_what_cannot_be_computed_says_why_in_one_line(to, old, word):
    with pytest.raises(RemedyError) as caught:
        new(to, old)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)
