"""Which metrics a log holds, under whose names."""

import numpy as np

from .carriers import Columns, Table

USUAL = (
    "critic/score/mean", "actor/pg_loss", "actor/ppo_kl", "actor/pg_clipfrac", "actor/entropy", "actor/grad_norm",
    "actor/lr", "actor/kl_loss", "actor/reward_kl_penalty", "critic/vf_loss", "response_length/mean", "perf/throughput",
    "timing_s/step",
)  # fmt: skip
TRL = {
    "actor/pg_loss": "loss",
    "actor/grad_norm": "grad_norm",
    "actor/lr": "learning_rate",
    "critic/score/mean": "reward",
    "actor/kl_loss": "kl",
    "actor/entropy": "entropy",
    "response_length/mean": "completions/mean_length",
    "response_length/max": "completions/max_length",
    "response_length/min": "completions/min_length",
    "response_length/clip_ratio": "completions/clipped_ratio",
    "actor/pg_clipfrac": "clip_ratio/region_mean",
    "groups/zero_std": "frac_reward_zero_std",
    "timing_s/step": "step_time",
}
OPENRLHF = {
    "actor/pg_loss": "train/policy_loss",
    "actor/lr": "train/actor_lr",
    "actor/pg_clipfrac": "train/ppo_clip_ratio",
    "actor/ppo_kl": "train/ppo_kl",
    "actor/kl_loss": "train/kl",
    "actor/reward_kl_penalty": "train/kl",
    "critic/score/mean": "train/reward",
    "critic/returns/mean": "train/return",
    "response_length/mean": "train/response_length",
    "critic/vf_loss": "train/critic_loss",
    "critic/values/mean": "train/values",
    "critic/lr": "train/critic_lr",
    "actor/grad_norm": "train/actor_grad_norm",
}
DIALECTS = ("verl", "verl-console", "verl-usual", "trl", "openrlhf")


def kept(table: Table, dialect: str) -> list[str]:
    """The columns, by verl's names, that a log of this dialect holds."""
    names = [name for name in table.columns if not np.isnan(table[name]).all()]
    if dialect == "trl":
        return [name for name in names if name in TRL]
    if dialect == "openrlhf":
        return [name for name in names if name in OPENRLHF]
    names = [name for name in names if not name.startswith("groups/")]
    if dialect == "verl-usual":
        return [name for name in names if name in USUAL or name.startswith("val-core/")]
    return names


def named(table: Table, dialect: str) -> Columns:
    """The columns under the dialect's own names."""
    columns = {name: table[name] for name in kept(table, dialect)}
    if dialect == "trl":
        out = {TRL[name]: values for name, values in columns.items()}
        out["rewards/accuracy_reward/mean"] = out["reward"]
        share = np.clip(out["reward"], 0.0, 1.0)
        out["reward_std"] = np.sqrt(share * (1 - share)) * (1 - out.get("frac_reward_zero_std", 0.0))
        return out
    if dialect == "openrlhf":
        return {OPENRLHF[name]: values for name, values in columns.items()}
    return columns
