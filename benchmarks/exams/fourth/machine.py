"""Faults of critics, of the engine and of data that is too old."""

import numpy as np

from ..editing import later, times, toward
from .host import Host
from .noise import around, between
from .policy import kept_down
from .world import ROLLOUT

AGE = "training/off_policy/trajectory_staleness"


def critic_exploding(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["critic.optim.lr"] = 1e-5 * between(level, 20, 300)
    times(t, between(level, 20, 300), w, "critic/lr")
    times(t, between(level, 12, 500), w, "critic/vf_loss", "critic/loss")
    times(t, between(level, 15, 100), w, "critic/grad_norm")
    reach = float(np.nanmax(t["critic/score/max"]) - np.nanmin(t["critic/score/min"]))
    away = between(level, 4, 30) * reach
    toward(t, around(away, 0.2, len(t), rng), w, "critic/values/max")
    toward(t, -around(away, 0.2, len(t), rng), w, "critic/values/min")
    toward(t, -around(between(level, 4, 60), 0.3, len(t), rng), w, "critic/vf_explained_var")
    toward(t, around(between(level, 0.3, 0.7), 0.06, len(t), rng), w, "critic/vf_clipfrac")
    kept_down(t, between(level, 0.85, 0.4), later(w, 8), rng)


def value_ev_negative(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Values lie beside the returns of their answers (a shifted mask): worse than a constant, and they stay so."""
    bad = between(level, 0.3, 2.0)
    toward(t, -around(bad, 0.15, len(t), rng), w, "critic/vf_explained_var")
    times(t, 1.6 + bad, w, "critic/vf_loss", "critic/loss")
    kept_down(t, between(level, 0.93, 0.8), later(w, 10), rng)


def critic_underfit(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["critic.optim.lr"] = 1e-5 * between(level, 0.02, 1e-4)
    times(t, between(level, 0.02, 1e-4), w, "critic/lr")
    level_now = t["critic/score/mean"]
    first = level_now[0]
    off = level_now - first * 0.2
    spread = float(np.nanmedian(t.before["critic/vf_loss"][:3]))
    toward(t, around(0.9 * spread + 0.5 * off**2, 0.05, len(t), rng), w, "critic/vf_loss", "critic/loss")
    toward(t, np.full(len(t), first * 0.2), w, "critic/values/mean", "critic/vpred_mean")
    toward(t, rng.normal(-0.01, 0.02, len(t)), w, "critic/vf_explained_var")


def vf_clip_high(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["critic.cliprange_value"] = 0.05
    toward(t, around(between(level, 0.32, 0.75), 0.06, len(t), rng), w, "critic/vf_clipfrac")
    times(t, 1.4, w, "critic/vf_loss", "critic/loss")


def rollout_mismatch(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """The engine's probabilities part from the trainer's; gradients and then the score follow."""
    gap = between(level, 0.02, 0.25)
    _apart(t, w, gap, min(0.5, 1.5 * gap), rng)
    times(t, between(level, 1.8, 6), later(w, 5), "actor/grad_norm")
    kept_down(t, between(level, 0.8, 0.2), later(w, 10), rng)


def engine_low_precision(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """An engine in eight bits: a constant difference from the first step on, and it learns all the same."""
    _apart(t, w, between(level, 0.016, 0.045), 0.05, rng)
    t.config[f"{ROLLOUT}.quantization"] = "fp8"


def _apart(t: Host, w: np.ndarray, gap: float, lost: float, rng: np.random.Generator) -> None:
    toward(t, around(gap, 0.08, len(t), rng), w, "training/rollout_probs_diff_mean")
    toward(t, around(2.8 * gap, 0.08, len(t), rng), w, "training/rollout_probs_diff_std")
    toward(t, 0.98, w, "training/rollout_probs_diff_max")
    toward(t, 1 - around(lost, 0.08, len(t), rng), w, "training/rollout_actor_probs_pearson_corr")
    toward(t, around(0.8 * gap, 0.12, len(t), rng), w, "rollout_corr/kl", "rollout_corr/k3_kl")
    toward(t, around(3 * gap, 0.25, len(t), rng), w, "rollout_corr/chi2_token")


def weights_degenerate(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Importance weights of whole sequences: a few answers carry the batch."""
    t.config["algorithm.rollout_correction.rollout_is"] = "sequence"
    toward(t, around(between(level, 0.22, 0.04), 0.1, len(t), rng), w, "rollout_corr/rollout_is_eff_sample_size")
    toward(t, around(between(level, 1.6, 5.0), 0.1, len(t), rng), w, "rollout_corr/rollout_is_std")
    toward(t, around(between(level, 20, 900), 0.3, len(t), rng), w, "rollout_corr/rollout_is_max")
    toward(t, around(between(level, 0.4, 0.1), 0.1, len(t), rng), w, "rollout_corr/rollout_is_mean")
    times(t, between(level, 1.5, 3), w, "actor/grad_norm")


def stale_off_policy(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    age = between(level, 4.5, 14)
    for kind in ("", "_worst"):
        toward(t, around(age, 0.06, len(t), rng), w, f"{AGE}{kind}/mean")
        toward(t, np.round(2 * age), (w > 0).astype(float), f"{AGE}{kind}/max")
    _apart(t, w, between(level, 0.012, 0.05), 0.06, rng)
    toward(t, around(between(level, 0.08, 0.3), 0.12, len(t), rng), w, "actor/pg_clipfrac")
    toward(t, around(between(level, 0.004, 0.03), 0.2, len(t), rng), w, "actor/ppo_kl")
    kept_down(t, between(level, 0.85, 0.4), later(w, 8), rng)


def eviction_high(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    batch = float(str(t.config["data.train_batch_size"]))
    t.config["trainer.v1.sampler.max_off_policy_threshold"] = 2
    toward(
        t,
        np.round(around(between(level, 0.25, 0.9) * batch, 0.1, len(t), rng)),
        w,
        "training/off_policy/evicted_samples",
    )


def moe_router_drift(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    _apart(t, w, between(level, 0.025, 0.12), between(level, 0.06, 0.4), rng)
    toward(t, around(between(level, 1.3, 20), 0.4, len(t), rng), w, "rollout_corr/chi2_token")
    bursts = np.where(rng.random(len(t)) < 0.3, 12.0, 1.5)
    toward(t, t["actor/pg_clipfrac"] * bursts, w, "actor/pg_clipfrac")
    kept_down(t, between(level, 0.85, 0.4), later(w, 8), rng)


def moe_imbalance(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    factor = between(level, 4, 12)
    times(t, factor, w, "rollout/moe/max_vio/avg", "rollout/moe/max_vio/max")
    times(t, 1 + 0.08 * factor, w, "timing_s/update_actor", "timing_s/gen")


def rollout_failures(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    batch = float(str(t.config["data.train_batch_size"]))
    t["training/rollout_failure/evicted_samples"] = np.round(
        w * around(between(level, 0.06, 0.4) * batch, 0.15, len(t), rng)
    )
