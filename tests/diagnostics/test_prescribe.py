"""Prescriptions: values from the run's own config, one a key, checked, in the order to try."""

import pytest

from klinic.diagnostics.engine.card import card_from
from klinic.diagnostics.engine.model import Finding, Severity
from klinic.diagnostics.engine.prescribe import prescribe
from klinic.diagnostics.run import Config, Row, Run, RunBuilder, Source
from klinic.diagnostics.verlconfig.spelling import spelt

LR, EPOCHS, MINI = (f"actor_rollout_ref.actor.{name}" for name in ("optim.lr", "ppo_epochs", "ppo_mini_batch_size"))


def card(number, *tries):
    return card_from({"id": f"TST{number}", "name": f"rule-{number}", "kind": "metric", "try": list(tries)})


def finding(number, severity=Severity.WARN, first_step=10, root=None):
    return Finding(
        f"TST{number}", f"rule-{number}", severity, severity, "high", first_step, 20, 1, False, "", "", root_cause=root
    )


def prescribed(findings, *cards, run=None, holds=lambda card, text: True):
    return prescribe(findings, {card.id: card for card in cards}, run or Run(config=Config({LR: 1e-5})), holds)


def test_the_value_comes_from_the_runs_config():
    (change,) = prescribed([finding(1)], card(1, {"key": LR, "to": "old*0.3", "because": "too fast"}))
    assert (change.old, change.new, change.override) == (1e-5, 3e-6, f"{LR}=3e-06")
    assert (change.id, change.name, change.because) == ("TST1", "rule-1", "too fast")
    assert change.checked == "accepted by verl 0.9.1"


def test_where_the_log_does_not_say_verls_default_is_the_old_value():
    (change,) = prescribed([finding(1)], card(1, {"key": LR, "to": "old*3"}), run=Run())
    assert (change.old, change.new) == (1e-6, 3e-6)


def test_a_learning_rate_that_the_metrics_show_goes_over_the_default():
    builder = RunBuilder("made", "test", lambda name, framework: name)
    builder.add(Row({"actor/lr": rate}, step=step) for step, rate in enumerate([0.0, 0.0025, 0.005, 0.004]))
    (change,) = prescribed([finding(1)], card(1, {"key": LR, "to": "old*0.1", "because": "wild"}), run=builder.build())
    assert (change.old, change.new, change.because) == (0.005, 0.0005, "wild")
    builder.add([Row({"actor/lr": 0.0}, step=9, decimals={"actor/lr": 3})])
    (change,) = prescribed([finding(1)], card(1, {"key": LR, "to": "old*0.1"}), run=builder.build())
    assert (change.old, change.new) == (1e-6, 1e-7)


def test_an_assumed_default_is_said():
    (change,) = prescribed([finding(1)], card(1, {"key": LR, "to": "old*3", "because": "slow"}), run=Run())
    assert change.because == "slow (the log does not say what it was: verl's default, 1e-06, is assumed)"
    known = Run(config=Config({EPOCHS: 1}))
    (change,) = prescribed([finding(1)], card(1, {"key": LR, "to": "old*3", "because": "slow"}), run=known)
    assert change.because == "slow"


def test_another_frameworks_run_gets_no_verl_keys():
    tries = card(1, {"key": LR, "to": "old*0.3"}, {"key": "beta", "to": "0.1", "framework": "trl"})
    (change,) = prescribed([finding(1)], tries, run=Run(source=Source(framework="trl"), config=Config({"beta": 0.01})))
    assert (change.key, change.old, change.new) == ("beta", 0.01, 0.1)
    assert "verl" not in change.checked


def test_a_change_that_changes_nothing_is_left_out():
    config = Config({LR: 1e-5, EPOCHS: 1})
    found = prescribed(
        [finding(1)], card(1, {"key": EPOCHS, "to": 1}, {"key": LR, "to": "old/2"}), run=Run(config=config)
    )
    assert [change.key for change in found] == [LR]


def test_a_remedy_whose_condition_does_not_hold_is_left_out():
    tries = card(1, {"key": LR, "to": "old/2", "if": "U >= 2"}, {"key": EPOCHS, "to": 2, "if": "progress() < 1"})
    found = prescribed([finding(1)], tries, holds=lambda card, text: text == "progress() < 1")
    assert [change.key for change in found] == [EPOCHS]


def test_what_verl_would_refuse_is_left_out():
    config = Config({"data.train_batch_size": 64, MINI: 64})
    tries = card(
        1,
        {"key": MINI, "to": "old*4"},
        {"key": "actor_rollout_ref.actor.no_such_key", "to": 1},
        {"key": LR, "to": 2e-6},
    )
    assert [change.key for change in prescribed([finding(1)], tries, run=Run(config=config))] == [LR]


def test_a_key_that_verls_config_lacks_gets_a_plus():
    key = "actor_rollout_ref.model.override_config.attn_implementation"
    (change,) = prescribed([finding(1)], card(1, {"key": key, "to": "'eager'"}))
    assert change.override == f"+{key}=eager"


def test_drop_removes_a_key_that_is_there():
    tries = card(1, {"key": "trainer.total_training_steps", "to": "drop"})
    assert prescribed([finding(1)], tries, run=Run()) == ()
    (change,) = prescribed([finding(1)], tries, run=Run(config=Config({"trainer.total_training_steps": 10})))
    assert (change.override, change.new) == ("~trainer.total_training_steps", None)


def test_append_adds_to_a_list():
    tries = card(1, {"key": "trainer.logger", "to": "append('file')"})
    (change,) = prescribed([finding(1)], tries, run=Run(config=Config({"trainer.logger": ["console"]})))
    assert change.override == "trainer.logger=[console,file]"
    assert prescribed([finding(1)], tries, run=Run(config=Config({"trainer.logger": ["file"]}))) == ()


def test_first_remedies_come_first_and_the_others_later():
    cards = card(1, {"key": LR, "to": "old/2"}, {"key": EPOCHS, "to": 2}), card(2, {"key": "algorithm.lam", "to": 0.95})
    found = prescribed([finding(1), finding(2, Severity.ERROR)], *cards)
    assert [(change.key, change.rank) for change in found] == [("algorithm.lam", 1), (LR, 1), (EPOCHS, 2)]


def test_where_findings_disagree_the_heavier_one_wins_and_says_so():
    cards = (
        card(1, {"key": LR, "to": "old*2", "because": "slow"}),
        card(2, {"key": LR, "to": "old*0.1", "because": "wild"}),
    )
    (change,) = prescribed([finding(1), finding(2, Severity.ERROR)], *cards)
    assert (change.id, change.new) == ("TST2", 1e-6)
    assert change.because == "wild; rule-1 would set 2e-05, which gives way to the heavier finding"


def test_a_consequence_is_treated_only_where_its_root_has_no_remedy():
    found = [finding(1, Severity.ERROR), finding(2, Severity.ERROR, 15, root="TST1")]
    second = card(2, {"key": EPOCHS, "to": 2})
    assert [change.id for change in prescribed(found, card(1, {"key": LR, "to": "old/2"}), second)] == ["TST1"]
    assert [change.id for change in prescribed(found, card(1), second)] == ["TST2"]


@pytest.mark.parametrize("severity", [Severity.INFO, Severity.NONE])
def test_information_is_not_treated(severity):
    assert prescribed([finding(1, severity)], card(1, {"key": LR, "to": "old/2"})) == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"), (True, "true"), (3e-7, "3e-07"), (8, "8"), ("token", "token"), ("seq-mean/x.y", "seq-mean/x.y"),
        ("two words", "'two words'"), ("it's", '"it\'s"'), (["a", 1], "[a,1]"), ("a=b", "'a=b'"),
        ("null", "'null'"), ("12", "'12'"), ("中", "'中'"), ({"a": 1, "b": "x y"}, "{a:1,b:'x y'}"),
    ],
)  # fmt: skip
def test_values_are_written_as_hydra_reads_them(value, expected):
    assert spelt(value) == expected


def test_a_setting_that_is_wrong_by_itself_comes_first_whoever_is_the_root():
    general, wrong = {"key": LR, "to": "old*0.1"}, {"key": EPOCHS, "to": 1, "sure": True}
    findings = [finding(1, Severity.ERROR), finding(2, root="TST1")]
    run = Run(config=Config({LR: 1e-5, EPOCHS: 9}))
    found = prescribed(findings, card(1, general), card(2, {"key": MINI, "to": "old/2"}, wrong), run=run)
    assert [(change.rank, change.key) for change in found] == [(1, EPOCHS), (2, LR)]


@pytest.mark.parametrize(
    ("wrong_explains", "guess_explains", "guess_begins", "guess_rank"),
    [(["rule-2"], [], 5, 2), ([], ["rule-1"], 16, 2), ([], ["rule-1"], 15, 1), ([], [], 16, 1)],
)
def test_a_guess_about_what_a_wrong_setting_may_have_caused_waits(
    wrong_explains, guess_explains, guess_begins, guess_rank
):
    wrong, guess = card(1, {"key": MINI, "to": 128, "sure": True}), card(2, {"key": LR, "to": "old*0.1"})
    wrong.data["explains"], guess.data["explains"] = wrong_explains, guess_explains
    found = prescribed([finding(2, first_step=guess_begins), finding(1, first_step=10)], wrong, guess)
    assert {change.key: change.rank for change in found} == {MINI: 1, LR: guess_rank}


def test_a_root_whose_remedies_do_not_fit_leaves_what_follows_untreated():
    findings = [finding(1, Severity.ERROR), finding(2, root="TST1")]
    never = card(1, {"key": LR, "to": "old/2", "if": "never"})
    assert prescribed(findings, never, card(2, {"key": EPOCHS, "to": 4}), holds=lambda card, text: False) == ()
    (change,) = prescribed(findings, card(1), card(2, {"key": EPOCHS, "to": 4}))
    assert change.key == EPOCHS


@pytest.mark.parametrize(
    ("key", "idle", "at_work"),
    [
        ("critic.optim.lr", {"algorithm.adv_estimator": "grpo"}, {"algorithm.adv_estimator": "gae"}),
        ("algorithm.kl_ctrl.kl_coef", {"algorithm.use_kl_in_reward": False}, {"algorithm.use_kl_in_reward": True}),
        (
            "actor_rollout_ref.actor.kl_loss_coef",
            {"actor_rollout_ref.actor.use_kl_loss": False},
            {"actor_rollout_ref.actor.use_kl_loss": True},
        ),
    ],
)
def test_a_key_that_does_nothing_in_the_run_is_left_out(key, idle, at_work):
    tries = card(1, {"key": key, "to": "old*3"})
    for config, keys in ((idle, []), (at_work, [key])):
        run = Run(config=Config({key: 0.001, **config}))
        assert [change.key for change in prescribed([finding(1)], tries, run=run)] == keys


def test_the_size_of_a_remedy_may_come_from_the_metrics():
    tries = card(1, {"key": LR, "to": 'old * sqrt(0.01 / signal("peak"))'})
    cards, run = {"TST1": tries}, Run(config=Config({LR: 1e-3}))
    for peak, new in ((1.0, 1e-4), (0.04, 5e-4)):
        (change,) = prescribe([finding(1)], cards, run, lambda c, t: True, lambda c, t, peak=peak: peak)
        assert change.new == new
    assert prescribe([finding(1)], cards, run, lambda c, t: True) == ()


@pytest.mark.parametrize(
    ("longest", "old"), [([3000.0, 4096, 4096, 4096], 4096), ([3000.0, 4096, 3500, 4000], 512), ([300.0] * 3, 300)]
)
def test_a_cap_that_batches_run_into_goes_over_the_default(longest, old):
    builder = RunBuilder("made", "test", lambda name, framework: name)
    for step, value in enumerate(longest):
        builder.add([Row({"response_length/max": value, "response_length/clip_ratio": 0.4}, step=step)])
    cap = card(1, {"key": "data.max_response_length", "to": "old*2"})
    assert prescribed([finding(1)], cap, run=builder.build())[0].old == old
