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
    "trainer_mode": ("trainer.v1.trainer_mode",),
    "rollout_log_probs": ("actor_rollout_ref.rollout.calculate_log_probs",),
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

# examples/configs/grpo_math_1B.yaml of NVIDIA-NeMo/RL.
NEMO_RL: Mapping[str, tuple[str, ...]] = {
    "n": ("grpo.num_generations_per_prompt",),
    "total_steps": ("grpo.max_num_steps",),
    "total_epochs": ("grpo.max_num_epochs",),
    "response_cap": ("policy.generation.max_new_tokens",),
    "train_batch_size": ("grpo.num_prompts_per_step",),
    "clip_low": ("loss_fn.ratio_clip_min",),
    "clip_high": ("loss_fn.ratio_clip_max",),
    "lr": ("policy.optimizer.kwargs.lr", "policy.megatron_cfg.optimizer.lr"),
    "kl_loss_coef": ("loss_fn.reference_policy_kl_penalty",),
    "temperature": ("policy.generation.temperature",),
    "test_freq": ("grpo.val_period",),
    "save_freq": ("checkpointing.save_period",),
}

# Arguments of THUDM/slime's train.py as argparse keeps them; typed with dashes.
SLIME: Mapping[str, tuple[str, ...]] = {
    "algorithm": ("advantage_estimator",),
    "n": ("n_samples_per_prompt",),
    "total_steps": ("num_rollout",),
    "response_cap": ("rollout_max_response_len",),
    "train_batch_size": ("rollout_batch_size",),
    "use_kl_loss": ("use_kl_loss",),
    "clip_low": ("eps_clip",),
    "clip_high": ("eps_clip_high", "eps_clip"),
    "lr": ("lr",),
    "critic_lr": ("critic_lr",),
    "kl_coef": ("kl_coef",),
    "kl_loss_coef": ("kl_loss_coef",),
    "entropy_coeff": ("entropy_coef",),
    "temperature": ("rollout_temperature",),
    "test_freq": ("eval_interval",),
    "save_freq": ("save_interval",),
}

NAMES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "verl": VERL,
    "trl": TRL,
    "ms-swift": TRL,
    "swift": TRL,
    "unsloth": TRL,
    "openrlhf": OPENRLHF,
    "nemo_rl": NEMO_RL,
    "slime": SLIME,
}

_TRL_KIN = ("ms-swift", "swift", "unsloth")  # take TRL's names where none of their own stands here

# Settings that are no facts of a run: verl's key -> what others call the very same thing, in the same unit.
# Sources: transformers' TrainingArguments and TRL's GRPOConfig and ModelConfig, ms-swift's arguments, the launch
# scripts of OpenRLHF, NeMo-RL's grpo_math_1B.yaml, slime's arguments with those of Megatron and SGLang.
_ROLLOUT = "actor_rollout_ref.rollout"
SAME: Mapping[str, Mapping[str, str]] = {
    "actor_rollout_ref.model.path": {
        "trl": "model_name_or_path",
        "ms-swift": "model",
        "openrlhf": "pretrain",
        "nemo_rl": "policy.model_name",
        "slime": "hf_checkpoint",
    },
    "critic.model.path": {"openrlhf": "critic_pretrain"},
    "actor_rollout_ref.nccl_timeout": {"trl": "ddp_timeout"},
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": {
        "openrlhf": "micro_train_batch_size",
        "nemo_rl": "policy.train_micro_batch_size",
        "slime": "micro_batch_size",
    },
    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu": {"slime": "max_tokens_per_gpu"},
    "actor_rollout_ref.actor.optim.clip_grad": {
        "trl": "max_grad_norm",
        "openrlhf": "max_norm",
        "nemo_rl": "policy.max_grad_norm",
        "slime": "clip_grad",
    },
    "actor_rollout_ref.model.enable_gradient_checkpointing": {
        "trl": "gradient_checkpointing",
        "openrlhf": "gradient_checkpointing",
        "nemo_rl": "policy.dtensor_cfg.activation_checkpointing",
    },
    f"{_ROLLOUT}.gpu_memory_utilization": {
        "trl": "vllm_gpu_memory_utilization",
        "openrlhf": "vllm_gpu_memory_utilization",
        "nemo_rl": "policy.generation.vllm_cfg.gpu_memory_utilization",
        "slime": "sglang_mem_fraction_static",
    },
    f"{_ROLLOUT}.tensor_model_parallel_size": {
        "trl": "vllm_tensor_parallel_size",
        "openrlhf": "vllm_tensor_parallel_size",
        "nemo_rl": "policy.generation.vllm_cfg.tensor_parallel_size",
    },
    f"{_ROLLOUT}.max_model_len": {"nemo_rl": "policy.generation.vllm_cfg.max_model_len"},
    f"{_ROLLOUT}.top_p": {
        "trl": "top_p",
        "openrlhf": "top_p",
        "nemo_rl": "policy.generation.top_p",
        "slime": "rollout_top_p",
    },
    "data.dataloader_num_workers": {"trl": "dataloader_num_workers"},
    "trainer.max_actor_ckpt_to_keep": {
        "trl": "save_total_limit",
        "openrlhf": "max_ckpt_num",
        "nemo_rl": "checkpointing.keep_top_k",
    },
    "trainer.default_local_dir": {
        "trl": "output_dir",
        "openrlhf": "ckpt_path",
        "nemo_rl": "checkpointing.checkpoint_dir",
        "slime": "save",
    },
}

# Settings to which verl has nothing quite like.
OWN: Mapping[str, tuple[str, ...]] = {
    "trl": ("per_device_train_batch_size", "gradient_accumulation_steps", "resume_from_checkpoint"),
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
    "nemo_rl": ("grpo.num_prompts_per_step", "policy.generation.max_new_tokens"),
    "slime": ("rollout_max_response_len", "num_rollout"),
    "openrlhf": ("n_samples_per_prompt", "rollout_batch_size"),
}


def dialect(framework: str, config: Mapping[str, Any]) -> str:
    """The framework whose names the config speaks, by its keys where the source does not say; "" where neither does."""
    if framework.lower() in NAMES:
        return framework.lower()
    if any(key.startswith(_VERL_SECTIONS) for key in config):
        return "verl"
    return next((name for name, marks in _MARKS.items() if any(mark in config for mark in marks)), "")


def names_in(framework: str, key: str) -> tuple[str, ...]:
    """What another framework calls the setting that verl calls `key`, the name to write first; () where it has none."""
    name = framework.lower()
    if name == "verl":
        return ()
    fact = next((fact for fact, keys in VERL.items() if key in keys), "")
    found = tuple(one for one in NAMES.get(name, {}).get(fact, ()) if not one[-1].isdigit())
    same = SAME.get(key, {})
    return found or tuple(same[one] for one in (name, family_of(name)) if one in same)[:1]


def has_own(framework: str, name: str) -> bool:
    """Whether a framework other than verl is known to have a setting of this name."""
    whose = family_of(framework.lower())
    listed = (*OWN.get(whose, ()), *(names[whose] for names in SAME.values() if whose in names))
    return name in listed or any(name in names for names in NAMES.get(whose, {}).values())


def family_of(framework: str) -> str:
    """The framework whose names another one takes: TRL for what drives its trainers, else itself."""
    return "trl" if framework in _TRL_KIN else framework
