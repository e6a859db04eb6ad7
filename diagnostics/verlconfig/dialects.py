"""What the settings of a run are called in each framework: fact -> names, the first that is there wins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERL: Mapping[str, tuple[str, ...]] = {
    "algorithm": ("algorithm.adv_estimator",),
    "n": ("actor_rollout_ref.rollout.n",),
    "total_steps": ("trainer.total_training_steps",),
    "total_epochs": ("trainer.total_epochs",),
    "lr_warmup_steps": ("actor_rollout_ref.actor.optim.lr_warmup_steps",),
    "critic_warmup": ("trainer.critic_warmup",),
    "prompt_cap": ("data.max_prompt_length",),
    "response_cap": ("data.max_response_length",),
    "train_batch_size": ("data.train_batch_size",),
    "mini_batch_size": ("actor_rollout_ref.actor.ppo_mini_batch_size",),
    "ppo_epochs": ("actor_rollout_ref.actor.ppo_epochs",),
    "use_kl_loss": ("actor_rollout_ref.actor.use_kl_loss",),
    "use_kl_in_reward": ("algorithm.use_kl_in_reward",),
    "bypass_mode": (
        "algorithm.rollout_correction.bypass_mode",
        "algorithm.rollout_correction.bypass_old_logprob_for_rollout",
    ),
    "loss_agg_mode": ("actor_rollout_ref.actor.loss_agg_mode",),
    "loss_mode": ("actor_rollout_ref.actor.policy_loss.loss_mode",),
    "clip_low": ("actor_rollout_ref.actor.clip_ratio_low", "actor_rollout_ref.actor.clip_ratio"),
    "clip_high": ("actor_rollout_ref.actor.clip_ratio_high", "actor_rollout_ref.actor.clip_ratio"),
    "lr": ("actor_rollout_ref.actor.optim.lr",),
    "critic_lr": ("critic.optim.lr",),
    "kl_coef": ("algorithm.kl_ctrl.kl_coef", "critic.kl_ctrl.kl_coef"),
    "kl_loss_coef": ("actor_rollout_ref.actor.kl_loss_coef",),
    "entropy_coeff": ("actor_rollout_ref.actor.entropy_coeff",),
    "temperature": ("actor_rollout_ref.rollout.temperature",),
    "test_freq": ("trainer.test_freq",),
    "save_freq": ("trainer.save_freq",),
    "lora_rank": ("actor_rollout_ref.model.lora_rank",),
}

# ms-swift and Unsloth drive TRL's trainers with TRL's names.
TRL: Mapping[str, tuple[str, ...]] = {
    "n": ("num_generations",),
    "total_steps": ("max_steps",),
    "total_epochs": ("num_train_epochs",),
    "lr_warmup_steps": ("warmup_steps",),
    "prompt_cap": ("max_prompt_length",),
    "response_cap": ("max_completion_length", "response_length"),
    "ppo_epochs": ("num_iterations", "num_ppo_epochs"),
    "loss_mode": ("loss_type",),
    "clip_low": ("epsilon",),
    "clip_high": ("epsilon_high", "epsilon"),
    "lr": ("learning_rate",),
    "kl_loss_coef": ("beta",),
    "kl_coef": ("kl_coef",),
    "temperature": ("temperature",),
    "test_freq": ("eval_steps",),
    "save_freq": ("save_steps",),
    "lora_rank": ("lora_rank", "lora_r"),
}

OPENRLHF: Mapping[str, tuple[str, ...]] = {
    "algorithm": ("advantage_estimator",),
    "n": ("n_samples_per_prompt",),
    "total_epochs": ("num_episodes",),
    "prompt_cap": ("prompt_max_len",),
    "response_cap": ("generate_max_len",),
    "ppo_epochs": ("max_epochs",),
    "use_kl_loss": ("use_kl_loss",),
    "clip_low": ("eps_clip_low_high.0", "eps_clip"),
    "clip_high": ("eps_clip_low_high.1", "eps_clip"),
    "lr": ("actor_learning_rate",),
    "critic_lr": ("critic_learning_rate",),
    "kl_coef": ("init_kl_coef",),
    "kl_loss_coef": ("init_kl_coef",),
    "entropy_coeff": ("entropy_loss_coef",),
    "temperature": ("temperature",),
    "test_freq": ("eval_steps",),
    "save_freq": ("save_steps",),
    "lora_rank": ("lora_rank",),
}

NAMES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "verl": VERL,
    "trl": TRL,
    "ms-swift": TRL,
    "swift": TRL,
    "unsloth": TRL,
    "openrlhf": OPENRLHF,
}

# Other frameworks' words for verl's advantage estimators.
ESTIMATORS = {
    "group_norm": "grpo",
    "dr_grpo": "grpo",
    "reinforce": "reinforce_plus_plus",
    "reinforce_baseline": "reinforce_plus_plus_baseline",
}

_VERL_SECTIONS = ("actor_rollout_ref.", "algorithm.", "data.", "trainer.", "critic.")
_MARKS = {
    "trl": ("num_generations", "max_completion_length"),
    "openrlhf": ("n_samples_per_prompt", "rollout_batch_size"),
}


def dialect(framework: str, config: Mapping[str, Any]) -> str:
    """The framework whose names the config speaks, by its keys where the source does not say; "" where neither does."""
    if framework.lower() in NAMES:
        return framework.lower()
    if any(key.startswith(_VERL_SECTIONS) for key in config):
        return "verl"
    return next((name for name, marks in _MARKS.items() if any(mark in config for mark in marks)), "")
