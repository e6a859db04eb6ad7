"""Evidence in words: what the cards' language says, as a person reads it, in English and Chinese."""

from __future__ import annotations

import pytest

from klinic.diagnostics.engine.compiled import compile_card
from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.engine.model import Evidence
from klinic.diagnostics.report import signalwords
from klinic.diagnostics.report.expressionwords import LANGS, condition, in_words, opens_the_way
from klinic.diagnostics.report.phrases import evidence_words, lacking, telling
from klinic.diagnostics.signals.registry import signals

KL, SCORE = "'actor/ppo_kl'", "'critic/score/mean'"


@pytest.mark.parametrize(
    ("expression", "en", "zh"),
    [
        (KL, "actor/ppo_kl", "actor/ppo_kl"),
        (f"abs({KL})", "|actor/ppo_kl|", "|actor/ppo_kl|"),
        (
            f"med(abs({KL}), 5)",
            "actor/ppo_kl: median of the last 5 absolute values",
            "actor/ppo_kl：最近 5 个绝对值的中位数",
        ),
        (
            f"highest(best({SCORE}, 5), first({SCORE}, 1)) - med({SCORE}, 5)",
            "critic/score/mean: "
            "(the higher of best mean of 5 values so far and first value) minus median of the last 5 values",
            "critic/score/mean：(迄今 5 个值的最佳均值与首个值中的较高者)减去最近 5 个值的中位数",
        ),
        (
            f"frac(abs({KL}) < 1e-07, 20)",
            "share of the last 20 values at which |actor/ppo_kl| is below 1e-07",
            "最近 20 个值中“|actor/ppo_kl| 低于 1e-07”所占的比例",
        ),
        (
            "med((fill('a/x', 0) + fill('a/y', 0)) / 'a/z', 10)",
            "median of the last 10 values of (a/x plus a/y) over a/z",
            "(a/x 加 a/y)与 a/z 之比的最近 10 个值的中位数",
        ),
        ("not absent('a/x')", "a/x was logged", "a/x 有记录"),
        ("not fill('a/x' > 0.5, False)", "a/x is at or below 0.5", "a/x 不高于 0.5"),
        ("cfg('a.b')", "a.b", "a.b"),
        ("min('a/x', run)", "a/x: smallest of all values so far", "a/x：迄今最小的值"),
    ],
)
def test_expressions_in_words(expression: str, en: str, zh: str) -> None:
    assert in_words(expression, "en") == en
    assert in_words(expression, "zh") == zh


@pytest.mark.parametrize(
    ("unit", "en", "zh"),
    [
        ("nats/token", "a/x was 0.6, above 0.5 nats/token, at step 7", "a/x 为 0.6，高于 0.5 nat/token（第 7 步）"),
        (
            "share of responses",
            "a/x was 0.6, above 0.5 of responses, at step 7",
            "a/x 为 0.6，高于 0.5（回答的比例，第 7 步）",
        ),
        ("coefficient", "a/x was 0.6, above 0.5, at step 7", "a/x 为 0.6，高于 0.5（第 7 步）"),
    ],
)
def test_a_bound_is_said_with_its_unit_where_that_is_a_measure(unit: str, en: str, zh: str) -> None:
    item = Evidence("'a/x'", 0.6, ">", 0.5, unit, 7, "'a/x'", ())
    assert (evidence_words(item, "en"), evidence_words(item, "zh")) == (en, zh)


def test_what_is_too_involved_is_left_to_the_metrics() -> None:
    assert in_words("'a/x' if 'a/y' > 3 else 0") is None
    assert in_words(" + ".join(f"'metric/number_{n}'" for n in range(12))) is None
    item = Evidence(
        "med(...)", 0.97, ">", 0.5, "share", 7, "med('a/x' if 'a/y' > 3 else 0, 5)", (("a/x", 0.98), ("a/y", 64.0))
    )
    assert evidence_words(item) == "a/x = 0.98 and a/y = 64 at step 7; from these the rule computes 0.97, above 0.5"
    assert evidence_words(item, "zh") == "第 7 步：a/x = 0.98、a/y = 64；规则由此算得 0.97，高于 0.5"


def test_every_signal_has_words() -> None:
    tables = (signalwords.WINDOWED, signalwords.PLAIN, signalwords.BARE, signalwords.NAMED, signalwords.CLAIMED)
    known = {*(name for table in tables for name in table), *signalwords.TRUTHS}
    by_the_speaker = {"fill", "last", "highest", "lowest", "abs"}
    left_to_the_metrics = {"any_of", "all_of", "coalesce", "exp", "log", "sqrt", "outcome_of"}
    assert set(signals()) == known | by_the_speaker | left_to_the_metrics
    assert set(signalwords.SIDES) == set(signalwords.OPPOSITE)


def test_no_evidence_of_any_card_shows_the_language() -> None:
    """Words never hold a call; what has none is shown by its metrics, of which there is at least one."""
    for card in installed_cards():
        for level in compile_card(card).levels if card.kind != "incident" else ():
            for piece in level.pieces:
                for part in piece.each("val-core/x/acc/mean@1") if piece.each else (piece,):
                    for lang in LANGS:
                        told = in_words(part.expression, lang)
                        assert "'" in part.expression if told is None else "(it" not in told and "med(" not in told


def test_guards_are_shown_only_where_nothing_else_is() -> None:
    guard = Evidence("count(a/x)", 2, "<=", 10, "", 3, "count('a/x')")
    real = Evidence("a/x", 0.9, ">", 0.2, "", 3, "'a/x'")
    assert opens_the_way("first_seen('a/x' > 1) - first_seen('a/x' > 2)") and not opens_the_way("'a/x' - step()")
    assert opens_the_way(guard.expression) and opens_the_way("not absent('a/x')") and not opens_the_way("'a/x'")
    assert telling([guard, real]) == [real] and telling([guard]) == [guard]


def test_when_a_rule_judges_is_said_in_words() -> None:
    """What the cards ask of a run; a card's own thresholds alone leave the expression as it is."""
    assert condition("U >= 2 and not cfg('a.b', False)") == "number of updates a batch is at or above 2 and a.b is off"
    assert condition("cfg('a.b', 1) in ['x', 'y'] or cfg('a.c')") == "a.b is one of x and y or a.c is on"
    assert condition("cfg('a.b', 1) in ['x', 'y'] or cfg('a.c')", "zh") == "a.b 是 x、y 之一，或 a.c 打开"
    told = {card.name: condition(card.applies) for card in installed_cards() if card.applies}
    assert len(told) > 10
    assert [name for name, words in told.items() if "'" in words] == ["sampling-too-hot"]
    assert (
        lacking("judged only where cfg('trainer.save_freq', -1) > 0")
        == "judged only where trainer.save_freq is above 0"
    )
    assert lacking("actor/kl_loss | actor/reward_kl_penalty") == "no actor/kl_loss or actor/reward_kl_penalty"
