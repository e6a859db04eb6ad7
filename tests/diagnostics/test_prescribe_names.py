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


def run_of(framework="verl", version="", **settings):
    values = {key.replace("__", "."): value for key, value in settings.items()}
    return Run(source=Source(framework=framework, version=version), config=Config(values))


@pytest.mark.parametrize(("framework", "text"), [("slime", "--use-kl-loss"), ("openrlhf", "--use_kl_loss")])
def test_a_switch_of_a_command_line_takes_no_value(framework, text):
    on = {"key": "actor_rollout_ref.actor.use_kl_loss", "to": True}
    assert [change.override for change in prescribed(run_of(framework, n_samples_per_prompt=8), on)] == [text]


def test_a_word_of_verls_is_no_value_of_another_framework():
    loss = {"key": "actor_rollout_ref.actor.policy_loss.loss_mode", "to": "'gspo'"}
    assert [change.new for change in prescribed(run_of(), loss)] == ["gspo"]
    assert prescribed(run_of("trl", beta=0.1), loss) == ()


def test_a_key_that_does_nothing_is_left_out_in_other_frameworks_too():
    slower = {"key": "critic.optim.lr", "to": "old/2"}
    for estimator, names in (("grpo", []), ("gae", ["critic_lr"])):
        run = run_of("slime", advantage_estimator=estimator, critic_lr=1e-5)
        assert [change.key for change in prescribed(run, slower)] == names


def test_a_frameworks_own_remedy_fits_what_drives_its_trainer():
    for framework, keys in (("trl", ["beta"]), ("unsloth", ["beta"]), ("slime", [])):
        own = {"key": "beta", "to": "old*2", "framework": "trl"}
        assert [change.key for change in prescribed(run_of(framework, beta=0.1), own)] == keys


def test_an_older_name_of_another_kind_does_not_take_the_value():
    keep = {"key": "trainer.max_actor_ckpt_to_keep", "to": 3}
    for version, keys in (("0.2.0", []), ("0.4.0", ["trainer.max_actor_ckpt_to_keep"])):
        assert [change.key for change in prescribed(run_of(version=version, data__seed=1), keep)] == keys


@pytest.mark.parametrize(("strategy", "kept"), [("fsdp2", "fsdp_config"), ("megatron", "megatron")])
def test_an_engine_gets_its_own_keys(strategy, kept):
    both = [
        {"key": f"actor_rollout_ref.actor.{part}.param_offload", "to": True} for part in ("fsdp_config", "megatron")
    ]
    run = run_of(actor_rollout_ref__actor__strategy=strategy)
    assert [change.key for change in prescribed(run, *both)] == [f"actor_rollout_ref.actor.{kept}.param_offload"]
