"""Every remedy of every card over runs of many kinds: what is prescribed exists, acts, is of the type, and is sane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.library import all_cards
from klinic.diagnostics.engine.model import Finding, Override, Severity
from klinic.diagnostics.engine.planned import planned
from klinic.diagnostics.engine.prescribe import Condition, prescribe
from klinic.diagnostics.run import Config, Run, Source
from klinic.diagnostics.signals import compile_text, evaluate
from klinic.diagnostics.verlconfig import facts, known, needs_plus
from klinic.diagnostics.verlconfig.check import value_trouble
from klinic.diagnostics.verlconfig.dialects import has_own
from klinic.diagnostics.verlconfig.releases import default_at, existed
from klinic.diagnostics.verlconfig.table import has, has_engine

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
BASE: dict[str, Any] = {
    f"{ROLLOUT}.name": "vllm",
    f"{ROLLOUT}.n": 8,
    f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": 4,
    "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": 4,
    f"{ACTOR}.ppo_mini_batch_size": 64,
    f"{ACTOR}.ppo_micro_batch_size_per_gpu": 4,
    f"{ACTOR}.optim.lr": 1e-6,
    "data.train_batch_size": 256,
    "data.max_prompt_length": 512,
    "data.max_response_length": 1024,
    "trainer.n_gpus_per_node": 8,
    "trainer.save_freq": 20,
    "trainer.test_freq": 5,
    "trainer.total_epochs": 4,
}
GRPO = {**BASE, "algorithm.adv_estimator": "grpo", f"{ACTOR}.use_kl_loss": True, f"{ACTOR}.kl_loss_coef": 0.001}
PPO = {
    **BASE,
    "algorithm.adv_estimator": "gae",
    "algorithm.use_kl_in_reward": True,
    "critic.optim.lr": 1e-5,
    "critic.ppo_micro_batch_size_per_gpu": 4,
    "algorithm.lam": 0.95,
}
ASYNC = {
    "trainer.v1.trainer_mode": "separate_async",
    f"{ROLLOUT}.nnodes": 1,
    f"{ROLLOUT}.checkpoint_engine.backend": "nccl",
    "data.train_batch_size": 256,
    "trainer.v1.separate_async.parameter_sync_step": 4,
}
GSPO = {f"{ACTOR}.policy_loss.loss_mode": "gspo", f"{ACTOR}.clip_ratio_low": 3e-4, f"{ACTOR}.clip_ratio_high": 4e-4}
MEGATRON = {"model_engine": "megatron", f"{ACTOR}.strategy": "megatron", f"{ACTOR}.megatron.param_offload": True}
# Whatever a card may find set wrong.
WRONG = {
    f"{ROLLOUT}.top_p": 0.9,
    f"{ROLLOUT}.top_k": 5,
    f"{ROLLOUT}.temperature": 0.6,
    f"{ROLLOUT}.enforce_eager": True,
    f"{ROLLOUT}.free_cache_engine": False,
    f"{ROLLOUT}.max_num_seqs": 16,
    f"{ROLLOUT}.max_model_len": 1024,
    f"{ROLLOUT}.val_kwargs.do_sample": True,
    f"{ACTOR}.fsdp_config.model_dtype": "fp16",
    f"{ACTOR}.fsdp_config.param_offload": True,
    f"{ACTOR}.loss_agg_mode": "seq-mean-token-mean",
    f"{ACTOR}.kl_loss_type": "kl",
    f"{ACTOR}.kl_loss_coef": 1.0,
    f"{ACTOR}.clip_ratio_high": 0.4,
    f"{ACTOR}.entropy_coeff": 0.1,
    f"{ACTOR}.ppo_epochs": 8,
    f"{ACTOR}.ppo_mini_batch_size": 96,
    f"{ACTOR}.optim.lr_warmup_steps": 500,
    f"{ACTOR}.checkpoint.load_contents": ["model"],
    "algorithm.rollout_correction.rollout_is": "sequence",
    "data.train_max_samples": 100,
    "data.val_max_samples": 100,
    "data.dataloader_num_workers": 0,
    "trainer.total_training_steps": 200,
    "trainer.balance_batch": False,
    "trainer.rollout_data_dir": "/data/rollouts",
    "custom_reward_function.path": "mine.py",
}
CRITIC = {"critic.optim.lr": 1e-4, "algorithm.kl_ctrl.kl_coef": 1.0}
TRL = {"learning_rate": 1e-6, "num_generations": 8, "beta": 0.04, "max_completion_length": 512, "temperature": 1.0}
RUNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "grpo": ("verl", "0.9.1", GRPO),
    "grpo without kl": ("verl", "0.9.1", {**GRPO, f"{ACTOR}.use_kl_loss": False}),
    "ppo": ("verl", "0.9.1", PPO),
    "rloo": ("verl", "0.9.1", {**BASE, "algorithm.adv_estimator": "rloo", "algorithm.use_kl_in_reward": True}),
    "reinforce++": ("verl", "0.9.1", {**BASE, "algorithm.adv_estimator": "reinforce_plus_plus", f"{ROLLOUT}.n": 1}),
    "lora": ("verl", "0.9.1", {**GRPO, "actor_rollout_ref.model.lora_rank": 32, f"{ACTOR}.optim.lr": 3e-6}),
    "megatron": ("verl", "0.9.1", {**GRPO, **MEGATRON}),
    "fsdp2": ("verl", "0.9.1", {**GRPO, f"{ACTOR}.strategy": "fsdp2", f"{ACTOR}.use_dynamic_bsz": True}),
    "async": ("verl", "0.9.1", {**GRPO, **ASYNC}),
    "gspo": ("verl", "0.9.1", {**GRPO, **GSPO}),
    "wrong": ("verl", "0.9.1", {**GRPO, **WRONG}),
    "wrong ppo": ("verl", "0.9.1", {**PPO, **WRONG, **CRITIC}),
    "verl 0.4": ("verl", "0.4.0", GRPO),
    "verl 0.2": ("verl", "0.2.0", GRPO),
    "trl": ("trl", "", TRL),
    "trl ppo": ("trl", "", {"learning_rate": 1e-6, "init_kl_coef": 0.05, "kl_coef": 0.05, "num_ppo_epochs": 4}),
    "ms-swift": ("ms-swift", "", {**TRL, "save_total_limit": 9}),
    "openrlhf": ("openrlhf", "", {"advantage_estimator": "gae", "actor_learning_rate": 1e-6, "max_epochs": 4}),
    "openrlhf grpo": ("openrlhf", "", {"advantage_estimator": "group_norm", "critic_learning_rate": 9e-6}),
    "nemo_rl": ("nemo_rl", "", {"policy.optimizer.kwargs.lr": 1e-6, "grpo.num_generations_per_prompt": 8}),
    "slime": ("slime", "", {"advantage_estimator": "grpo", "lr": 1e-6, "rollout_max_response_len": 8192}),
}  # fmt: skip
# Key -> between which values a prescription stays for ordinary settings; sources: the cards', verl's examples.
SANE: dict[str, tuple[float, float]] = {
    f"{ACTOR}.optim.lr": (1e-8, 1e-5),
    "critic.optim.lr": (1e-7, 1e-4),
    f"{ACTOR}.kl_loss_coef": (1e-5, 0.1),
    "algorithm.kl_ctrl.kl_coef": (1e-5, 0.1),
    f"{ACTOR}.entropy_coeff": (0, 0.01),
    f"{ACTOR}.clip_ratio_high": (1e-4, 0.28),
    f"{ROLLOUT}.temperature": (0.8, 1.0),
    f"{ROLLOUT}.gpu_memory_utilization": (0.3, 0.8),
    f"{ROLLOUT}.n": (2, 64),
    f"{ACTOR}.ppo_epochs": (1, 1),
    "algorithm.lam": (0.9, 1),
}
CRITICS = ("critic.*", "trainer.critic_warmup", "trainer.max_critic_ckpt_to_keep", "algorithm.lam")
CARDS = [card for card in all_cards() if card.remedies]


def test_what_is_prescribed_exists_acts_and_is_sane() -> None:
    wrong = [
        (kind, card.name, one.override, trouble)
        for kind, run in runs()
        for card in CARDS
        for one in prescribed(card, run, likely(run))
        if (trouble := trouble_of(one, run))
    ]
    assert wrong == []


def test_every_remedy_is_prescribed_to_some_run() -> None:
    """A remedy that fits none of them is refused for its key or its value, or can never differ from what is set."""
    missed = {(card.name, place): str(one["key"]) for card in CARDS for place, one in enumerate(card.remedies)}
    for _, run in runs():
        for card in CARDS:
            for place, one in enumerate(card.remedies):
                alone = replace(card, data={**card.data, "try": [one]})
                if (card.name, place) in missed and prescribed(alone, run, lambda card, text: True):
                    del missed[card.name, place]
    assert missed == {}


def runs() -> Iterator[tuple[str, Run]]:
    for kind, (framework, version, values) in RUNS.items():
        yield kind, Run(source=Source(framework=framework, version=version), config=Config(values, frozenset(values)))


def likely(run: Run) -> Condition:
    """Conditions by the run's config; what only metrics could tell counts as true."""
    at, about = planned(run), facts(run)
    return lambda card, text: evaluate(compile_text(text, card.scope(), "truth"), at, about)[-1] is not False


def prescribed(card: Card, run: Run, holds: Condition) -> tuple[Override, ...]:
    """What a card alone prescribes where it found an error."""
    found = Finding(card.id, card.name, Severity.ERROR, Severity.ERROR, "high", 10, 20, 1, False, "", "")
    return prescribe(
        [found], {card.id: card}, run, holds, lambda card, text: 100 if text == "rows" else 0.05, facts(run)
    )


def trouble_of(one: Override, run: Run) -> str:
    """What is wrong with a prescription, "" where nothing is."""
    verl = run.source.framework == "verl"
    return (_of_verl(one, run) or _insane(one, run)) if verl else _of_others(one, run)


def _of_verl(one: Override, run: Run) -> str:
    key, version, about = one.key, run.source.version, facts(run)
    if version != "0.9.1":
        before = default_at(key, version)
        same_kind = before is None or isinstance(before, bool) == isinstance(one.new, bool)
        return "" if existed(key, version) and same_kind else f"not of verl {version}"
    engine = run.config.values.get("model_engine", "dp")
    if not (known(key) or needs_plus(key)) or (has(key) and not has_engine(key, engine)):
        return f"verl composes no such key with {engine}"
    if not about.has_critic and any(fnmatchcase(key, pattern) for pattern in CRITICS):
        return "the run has no critic"
    if key == f"{ACTOR}.use_kl_loss" and about.use_kl_in_reward:
        return "a second penalty: the KL is in the reward"
    if key.endswith(("kl_loss_coef", "kl_loss_type")) and not about.use_kl_loss:
        return "the KL is no loss here"
    if "max_off_policy" in key and about.trainer_mode == "sync":
        return "nothing is stale in a synchronous trainer"
    found = value_trouble(key, one.new)
    return found.message if found else ""


def _insane(one: Override, run: Run) -> str:
    """A value outside of its range, unless it is a step back towards it."""
    if one.key not in SANE or isinstance(one.new, bool):
        return ""
    low, high = SANE[one.key]
    high = 1e-4 if one.key.endswith("optim.lr") and facts(run).lora_rank else high
    high = 0.001 if "clip_ratio" in one.key and facts(run).loss_mode == "gspo" else high
    back = one.old is not None and (one.old > one.new > high or one.old < one.new < low)
    return "" if low <= one.new <= high or back else "outside of what is sane"


def _of_others(one: Override, run: Run) -> str:
    framework = run.source.framework
    if not has_own(framework, one.key) and one.key not in run.config.values:
        return f"{framework} has no such setting"
    if "critic" in one.key and facts(run).has_critic is False:
        return "the run has no critic"
    if framework in ("openrlhf", "slime") and not one.override.startswith("--"):
        return "no argument of a command line"
    return "a word of verl's" if isinstance(one.new, str) else ""
