"""Faults that show in what is measured, and the settings behind faults."""

import numpy as np

from ..editing import times, toward
from ..fourth.host import Host, phases
from ..fourth.noise import around, between
from .causes import bonus
from .world import ACTOR, ROLLOUT, World

AGE = "training/off_policy/trajectory_staleness"


def scaled_setting(key: str, mild: float, gross: float, digits: int = 12):  # type: ignore[no-untyped-def]
    """A fault's sign that is a setting at so many times its value."""

    def set_it(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
        t.config[key] = round(float(str(t.config[key])) * between(level, mild, gross), digits)

    return set_it


def set_to(**values: object):  # type: ignore[no-untyped-def]
    """A fault's sign that is a setting; `__` stands for a point."""

    def set_it(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
        t.config |= {key.replace("__", "."): value for key, value in values.items()}

    return set_it


def gradient_spikes(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Every fifth batch or so throws a gradient far out of its band."""
    hit = (w > 0) & (np.arange(len(t)) % 5 == int(np.argmax(w > 0)) % 5)
    t["actor/grad_norm"] = np.where(hit, t["actor/grad_norm"] * between(level, 14, 80), t["actor/grad_norm"])
    t["actor/pg_loss"] = np.where(hit, t["actor/pg_loss"] + 0.15, t["actor/pg_loss"])


def not_finite(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    lost = np.where(w > 0, np.inf, 0.0)
    for name in ("actor/grad_norm", "actor/pg_loss", "actor/ppo_kl", "actor/entropy", "actor/kl_loss"):
        if name in t:
            t[name] = t[name] + lost


def reward_not_finite(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """A grader that divides by nothing now and then; such a batch has no loss either."""
    every = round(between(level, 6, 2))
    lost = np.where((w > 0) & ((np.arange(len(t)) - int(np.argmax(w > 0))) % every == 0), np.inf, 0.0)
    for name in ("critic/score/mean", "critic/rewards/mean", "critic/score/max", "actor/pg_loss", "actor/grad_norm"):
        t[name] = t[name] + lost


def epochs_set(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config[f"{ACTOR}.ppo_epochs"] = round(between(level, 14, 30))


def temperature_set(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config[f"{ROLLOUT}.temperature"] = round(between(level, 1.5, 1.9), 2)


def coefficient_set(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    for key in (f"{ACTOR}.kl_loss_coef", "algorithm.kl_ctrl.kl_coef"):
        if key in t.config:
            t.config[key] = float(str(t.config[key])) * between(level, 800, 6000)


def distance_negative(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    below = -around(between(level, 0.03, 0.3), 0.15, len(t), rng)
    toward(t, below, w, "actor/kl_loss", "actor/reward_kl_penalty")
    t.config |= {f"{ROLLOUT}.top_k": 20, f"{ACTOR}.kl_loss_type": "kl"}


def parts_told(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Accuracy and format apart, as TRL logs its functions."""
    share = (t["critic/score/mean"] - world.low) / (world.high - world.low)
    t["reward/accuracy"] = np.clip(share - bonus(w, level), 0.0, 1.0)
    t["reward/format"] = np.clip(around(1.0, 0.02, len(t), rng) * (0.5 + bonus(w, level) / 0.9), 0.0, 1.0)


def filter_evicts(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    batch = float(str(t.config["data.train_batch_size"]))
    many = np.round(batch * around(between(level, 2.4, 7.0), 0.1, len(t), rng))
    toward(t, many, w, "training/filter_groups/evicted_samples")
    times(t, between(level, 2.0, 4.0), w, "timing_s/gen")


def advantages_apart(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Groups of next to no spread, divided by it."""
    for name in ("critic/advantages/max", "critic/returns/max", "critic/advantages/min", "critic/returns/min"):
        times(t, between(level, 12, 60), w, name)
    t.config["algorithm.norm_adv_by_std_in_grpo"] = True


def answers_empty(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    empty = np.clip(around(between(level, 0.06, 0.6), 0.08, len(t), rng) * w, 0, 0.9)
    t["response/aborted_ratio"] = empty
    t["response_length/mean"] = t["response_length/mean"] * (1 - empty)
    t["response_length/min"] = np.where(empty > 0, 0.0, t["response_length/min"])


def prompts_cut(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    limit = float(str(t.config["data.max_prompt_length"]))
    toward(t, np.clip(around(between(level, 0.06, 0.45), 0.1, len(t), rng), 0, 1), w, "prompt_length/clip_ratio")
    toward(t, limit, w, "prompt_length/max")
    toward(t, between(level, 0.5, 0.85) * limit, w, "prompt_length/mean")


def turns_counted(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    times(t, between(level, 1.9, 2.5), w, "num_turns/mean", "tool_call_counts/mean")


def values_clipped(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    toward(t, around(between(level, 0.33, 0.8), 0.06, len(t), rng), w, "critic/vf_clipfrac")
    t.config["critic.cliprange_value"] = 0.02


def versions_counted(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    for kind in ("", "_worst"):
        times(t, between(level, 4.0, 9.0), w, f"{AGE}{kind}/mean", f"{AGE}{kind}/max")
        t[f"{AGE}{kind}/max"] = np.round(t[f"{AGE}{kind}/max"])


def weights_spent(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    toward(t, around(between(level, 0.2, 0.03), 0.1, len(t), rng), w, "rollout_corr/rollout_is_eff_sample_size")
    toward(t, around(between(level, 2.0, 6.0), 0.1, len(t), rng), w, "rollout_corr/rollout_is_std")
    toward(t, around(between(level, 0.45, 0.1), 0.1, len(t), rng), w, "rollout_corr/rollout_is_mean")
    t.config["algorithm.rollout_correction.rollout_is"] = "sequence"


def queue_evicts(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    batch = float(str(t.config["data.train_batch_size"]))
    many = np.round(around(between(level, 0.25, 0.9) * batch, 0.1, len(t), rng))
    toward(t, many, w, "training/off_policy/evicted_samples")


def routing_bursts(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    bursts = np.where(rng.random(len(t)) < 0.3, 4.0, 1.3)
    t["actor/pg_clipfrac"] = np.clip(t["actor/pg_clipfrac"] * bursts**w, 0, 0.9)
    toward(t, around(between(level, 1.5, 20.0), 0.4, len(t), rng), w, "rollout_corr/chi2_token")


def experts_uneven(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    times(t, between(level, 4, 12), w, "rollout/moe/max_vio/avg", "rollout/moe/max_vio/max")
    times(t, between(level, 1.2, 1.8), w, "timing_s/gen", "timing_s/update_actor")


def rollouts_fail(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    batch = float(str(t.config["data.train_batch_size"]))
    many = around(between(level, 0.08, 0.4) * batch, 0.15, len(t), rng)
    t["training/rollout_failure/evicted_samples"] = np.round(np.maximum(w * many, 0))


def negative_rate(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config[f"{ACTOR}.optim.total_training_steps"] = int(np.argmax(w > 0)) + 1
    t.config["trainer.total_training_steps"] = 2 * len(t)


def everything_slow(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    times(t, between(level, 2.6, 8), w, *phases(t.columns))
