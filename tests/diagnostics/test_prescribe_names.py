"""Prescriptions in the words of the run: an older verl's keys, other frameworks' settings and flags."""

import pytest

from klinic.diagnostics.engine.card import card_from
from klinic.diagnostics.engine.model import Finding, Severity
from klinic.diagnostics.engine.prescribe import prescribe
from klinic.diagnostics.run import Config, Run, Source

LR, MINI = "actor_rollout_ref.actor.optim.lr", "actor_rollout_ref.actor.ppo_mini_batch_size"


def prescribed(run, *tries):
    card = card_from({"id": "TST1", "name": "rule-1", "kind": "metric", "try": list(tries)})
    found = Finding("TST1", "rule-1", Severity.WARN, Severity.WARN, "high", 10, 20, 1, False, "", "")
    return prescribe([found], {"TST1": card}, run, lambda card, text: True)


def test_an_older_verl_gets_its_own_spelling_and_no_key_that_it_lacks():
    tries = (
        {"key": "reward.custom_reward_function.path", "to": "'new.py'"},
        {"key": "trainer.v1.trainer_mode", "to": "'colocate_async'"},
    )
    old = Run(
        source=Source(framework="verl", version="0.4.0"),
        config=Config({"custom_reward_function.path": "old.py", LR: 1e-6}),
    )
    (change,) = prescribed(old, *tries)
    assert (change.key, change.old, change.override) == (
        "custom_reward_function.path",
        "old.py",
        "custom_reward_function.path=new.py",
    )
    assert "verl 0.4" in change.checked


OTHERS = {
    "trl": ({"learning_rate": 1e-5}, "learning_rate", "learning_rate=3e-06"),
    "openrlhf": ({"actor_learning_rate": 1e-5}, "actor_learning_rate", "--actor_learning_rate 3e-06"),
    "slime": ({"lr": 1e-5, "rollout_max_response_len": 8192}, "lr", "--lr 3e-06"),
    "nemo_rl": (
        {"policy.megatron_cfg.optimizer.lr": 1e-5},
        "policy.megatron_cfg.optimizer.lr",
        "policy.megatron_cfg.optimizer.lr=3e-06",
    ),
}


@pytest.mark.parametrize("framework", OTHERS)
def test_another_frameworks_run_gets_its_own_setting(framework):
    config, name, text = OTHERS[framework]
    run = Run(source=Source(framework=framework), config=Config(config))
    (change,) = prescribed(run, {"key": LR, "to": "old*0.3"}, {"key": MINI, "to": 64})
    assert (change.key, change.old, change.new, change.override) == (name, 1e-5, 3e-6, text)


def test_words_of_a_flag_are_joined_as_the_framework_does():
    run = Run(source=Source(framework="slime"), config=Config({"rollout_max_response_len": 8192}))
    assert (
        prescribed(run, {"key": "data.max_response_length", "to": "old*2"})[0].override
        == "--rollout-max-response-len 16384"
    )
