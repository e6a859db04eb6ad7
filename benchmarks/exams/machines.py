"""Faults of critic, rollout engine, and machine."""

import numpy as np

from .carriers import Table
from .editing import flat_score, later, noisy, score_to, times, toward

PHASES = ("gen", "old_log_prob", "ref", "values", "adv", "update_actor", "update_critic", "update_weights")


def critic_explosion(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Values leave the returns: value loss, critic gradients and value clip fraction soar."""
    t.config["critic.optim.lr"] = float(t.config["critic.optim.lr"]) * (100 if gross else 20)
    times(t, 100 if gross else 20, w, "critic/lr")
    times(t, 300 if gross else 25, w, "critic/vf_loss", "critic/loss")
    times(t, 80 if gross else 15, w, "critic/grad_norm")
    toward(t, noisy(12 if gross else 4, 0.3, t, rng), w, "critic/values/max")
    toward(t, -noisy(9 if gross else 3, 0.3, t, rng), w, "critic/values/min")
    toward(t, -noisy(40 if gross else 6, 0.4, t, rng), w, "critic/vf_explained_var")
    toward(t, np.minimum(noisy(0.6 if gross else 0.35, 0.1, t, rng), 1.0), w, "critic/vf_clipfrac")
    score_to(t, 0.4 if gross else 0.8, later(w, 8), rng)


def critic_idle(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Values say nothing of returns: as bad at the end as a constant, or worse."""
    t.config["critic.optim.lr"] = float(t.config["critic.optim.lr"]) * 1e-3
    times(t, 1e-3, w, "critic/lr")
    level = t["critic/returns/mean"] if "critic/returns/mean" in t else t["critic/score/mean"]
    off = level * (0.9 if gross else 0.5)
    spread = np.maximum(level * (1.0 - level), 0.01)
    toward(t, 0.5 * (spread + off**2) * noisy(1.0, 0.05, t, rng), w, "critic/vf_loss", "critic/loss")
    toward(t, level - off, w, "critic/values/mean", "critic/vpred_mean")
    toward(t, (-(off**2) / spread if gross else 0.0) + rng.normal(0.0, 0.02, len(t)), w, "critic/vf_explained_var")


def mismatch(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Rollout engine and trainer disagree about the probabilities of the same tokens."""
    size = 6.0 if gross else 1.0
    toward(t, noisy(0.016 * size, 0.15, t, rng), w, "training/rollout_probs_diff_mean")
    toward(t, noisy(0.04 * size, 0.15, t, rng), w, "training/rollout_probs_diff_std")
    toward(t, 0.97, w, "training/rollout_probs_diff_max")
    toward(t, 1.0 - noisy(0.03 * size, 0.2, t, rng), w, "training/rollout_actor_probs_pearson_corr")
    toward(t, noisy(0.02 * size, 0.2, t, rng), w, "rollout_corr/k3_kl", "rollout_corr/kl")
    toward(t, noisy(0.05 * size, 0.4, t, rng), w, "rollout_corr/chi2_token")
    times(t, 5 if gross else 1.5, later(w, 5), "actor/grad_norm")
    score_to(t, 0.3 if gross else 0.85, later(w, 10), rng)


def stale(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Trajectories come from weights many updates old."""
    t.config["trainer.v1.trainer_mode"] = "separate_async"
    age = 9.0 if gross else 4.0
    for kind in ("trajectory_staleness", "trajectory_staleness_worst"):
        toward(t, noisy(age, 0.1, t, rng), w, f"training/off_policy/{kind}/mean")
        toward(t, 2 * age, (w > 0).astype(float), f"training/off_policy/{kind}/max")
    toward(t, noisy(0.06 if gross else 0.012, 0.3, t, rng), w, "rollout_corr/k3_kl", "rollout_corr/kl")
    toward(t, noisy(0.05 if gross else 0.012, 0.2, t, rng), w, "training/rollout_probs_diff_mean")
    toward(t, noisy(0.3 if gross else 0.1, 0.2, t, rng), w, "actor/pg_clipfrac")
    score_to(t, 0.4 if gross else 0.85, later(w, 8), rng)


def slow_generation(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Generation takes many times as long for the same tokens: a step takes 2.5 or 6 times as long."""
    share = float(np.nanmedian(t["timing_s/gen"] / t["timing_s/step"])) if "timing_s/gen" in t else 0.5
    times(t, 1.0 + ((6.0 if gross else 2.5) - 1.0) / share, w, "timing_s/gen")


def slow_machine(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Every phase is slower: a neighbour, a hot card."""
    times(t, 6 if gross else 2.5, w, *(f"timing_s/{phase}" for phase in PHASES))


def checkpoints_stall(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Every tenth (or fifth) step a checkpoint takes longer than the step."""
    every = 5 if gross else 10
    t.config["trainer.save_freq"] = every
    steps = np.array(t.steps)
    long = np.nanmedian(t["timing_s/step"]) * (6 if gross else 4)
    t["timing_s/save_checkpoint"] = np.where((steps % every == 0) & (w > 0), noisy(long, 0.1, t, rng), np.nan)


def slow_rewards(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """A grader that waits: scoring takes most of the step."""
    usual = np.nanmedian(t["timing_s/step"])
    t["timing_s/reward"] = noisy(0.02 * usual, 0.2, t, rng)
    toward(t, noisy(4.0 * usual if gross else 0.9 * usual, 0.2, t, rng), w, "timing_s/reward")


def host_leak(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Host memory grows by the same amount every step, until the node has none left."""
    start = int(np.argmax(w > 0))
    grown = np.maximum(0.0, np.arange(len(t)) - start) / max(1, len(t) - start)
    for name in ("actor/perf/cpu_memory_used_gb", "critic/perf/cpu_memory_used_gb"):
        if name in t:
            level = float(np.nanmedian(t[name]))
            t[name] = level + rng.normal(0.0, 0.01 * level, len(t)) + grown * level * (12.0 if gross else 4.0)


def device_leak(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """The trainer's GPU memory climbs step by step towards the card's limit."""
    start = int(np.argmax(w > 0))
    grown = np.maximum(0.0, np.arange(len(t)) - start) / max(1, len(t) - start)
    for kind in ("allocated", "reserved"):
        name = f"actor/perf/max_memory_{kind}_gb"
        if name in t:
            t[name] = np.maximum.accumulate(t[name] * (1.0 + grown * (1.5 if gross else 0.6)))


def weights_sync_slow(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Sending the weights to the engine takes a large part of the step."""
    usual = np.nanmedian(t["timing_s/step"])
    toward(t, noisy(1.2 * usual if gross else 0.45 * usual, 0.1, t, rng), w, "timing_s/update_weights")


def optimiser_lost(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """A resume from a checkpoint that lacks what the run had learnt: the score drops at the boundary."""
    start = int(np.argmax(w > 0))
    back = max(2, min(start // 2, 40))
    t.steps = t.steps[:start] + [step - back for step in t.steps[start:]]
    flat_score(t, w)
    score_to(t, 0.3 if gross else 0.6, w, rng)
    times(t, 5 if gross else 2.5, w, "actor/grad_norm")
