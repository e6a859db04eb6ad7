"""Faults of updates, exploration and the pull to the reference."""

import numpy as np

from ..editing import later, lengths, times, toward
from .host import Host
from .noise import around, between
from .world import ACTOR, ROLLOUT

LR = f"{ACTOR}.optim.lr"
KL = ("actor/kl_loss", "actor/reward_kl_penalty")
PPL = ("rollout_corr/rollout_log_ppl", "rollout_corr/training_log_ppl")


def faster(t: Host, factor: float, w: np.ndarray) -> None:
    """The learning rate, in the config and in the log."""
    t.config[LR] = float(str(t.config[LR])) * factor
    times(t, factor, w, "actor/lr")


def kept_down(t: Host, share: float, w: np.ndarray, rng: np.random.Generator) -> None:
    """The score falls towards a share of its way above the lowest reward, validations two steps later."""
    floor = float(np.nanmin(t["critic/score/min"])) if "critic/score/min" in t else 0.0
    floor = max(floor, -12.0)
    for name in ("critic/score/mean", "critic/rewards/mean"):
        t[name] = floor + (t[name] - floor) * (1 - w * (1 - share))
    if t.algorithm == "ppo" and "critic/returns/mean" in t:
        t["critic/returns/mean"] = floor + (t["critic/returns/mean"] - floor) * (1 - w * (1 - share))
    if t.validation:
        times(t, max(share, 2e-3), later(w, 2), t.validation)


def still(t: Host, w: np.ndarray, rng: np.random.Generator) -> None:
    """Nothing is learned from the onset on: scores and lengths keep their level and their noise, validations theirs."""
    start = int(np.argmax(w > 0))
    for name in ("critic/score/mean", "critic/rewards/mean"):
        t[name] = _held(t[name], start)
    lengths(t, _held(t["response_length/mean"], start) / t["response_length/mean"], np.ones(len(t)))
    if not t.validation:
        return
    values = t[t.validation]
    past = values[:start][~np.isnan(values[:start])]
    level = past[-1] if len(past) else t.opening if t.opening is not None else values[~np.isnan(values)][0]
    drawn = rng.binomial(500, min(1.0, float(level)), len(t)) / 500
    t[t.validation] = np.where((w > 0) & ~np.isnan(values), drawn, values)


def _held(values: np.ndarray, start: int) -> np.ndarray:
    """The level of the rows before `start` from there on, with the noise that there was."""
    rows = np.arange(len(values))
    smooth = np.polyval(np.polyfit(rows, values, 4), rows)
    level = np.mean(values[max(0, start - 10) : max(start, 3)])
    return np.where(rows >= start, level + values - smooth, values)


def update_too_large(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    faster(t, between(level, 10, 300), w)
    toward(t, around(between(level, 0.05, 1.2), 0.4, len(t), rng), w, "actor/ppo_kl")
    toward(t, around(between(level, 0.23, 0.5), 0.1, len(t), rng), w, "actor/pg_clipfrac")
    toward(t, around(between(level, 2e-3, 0.05), 0.5, len(t), rng), w, "actor/pg_clipfrac_lower")
    times(t, between(level, 2.5, 15), w, "actor/grad_norm")
    toward(t, around(between(level, 0.2, 3.0), 0.2, len(t), rng), later(w, 1), *KL)
    times(t, between(level, 0.8, 0.2), later(w, 2), "actor/entropy", *PPL)
    kept_down(t, between(level, 0.7, 0.05), later(w, 3), rng)


def too_many_updates(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    epochs = round(between(level, 6, 20))
    t.config[f"{ACTOR}.ppo_epochs"] = epochs
    times(t, epochs, w, "timing_s/update_actor")
    toward(t, around(between(level, 0.035, 0.2), 0.3, len(t), rng), w, "actor/ppo_kl")
    toward(t, around(between(level, 0.24, 0.45), 0.08, len(t), rng), w, "actor/pg_clipfrac")
    times(t, between(level, 1.5, 3), w, "actor/grad_norm")
    kept_down(t, between(level, 0.85, 0.5), later(w, 6), rng)


def policy_not_updating(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    faster(t, between(level, 1e-3, 1e-6), w)
    toward(t, rng.normal(0, between(level, 2e-6, 1e-7), len(t)), w, "actor/ppo_kl")
    toward(t, 0.0, w, "actor/pg_clipfrac", "actor/pg_clipfrac_lower")
    toward(t, around(between(level, 2e-6, 1e-7), 0.4, len(t), rng), w, *KL)
    toward(t, around(float(t["actor/entropy"][0]), 0.015, len(t), rng), w, "actor/entropy", *PPL)
    toward(t, around(float(t["response_length/mean"][0]), 0.02, len(t), rng), w, "response_length/mean")
    still(t, w, rng)


def frozen_weights(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """No parameter takes part: gradients are exactly 0 although answers of a group differ."""
    policy_not_updating(t, w, 1.0, rng)
    toward(t, 0.0, w, "actor/ppo_kl", "actor/grad_norm", *KL)
    t.config[LR] = 1e-6
    t["actor/lr"] = t.before["actor/lr"].copy()


def clipfrac_high(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    toward(t, around(between(level, 0.26, 0.55), 0.08, len(t), rng), w, "actor/pg_clipfrac")
    toward(t, around(between(level, 0.005, 0.018), 0.3, len(t), rng), w, "actor/ppo_kl")
    kept_down(t, between(level, 0.93, 0.8), later(w, 8), rng)


def dual_clip_active(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    toward(t, around(between(level, 0.012, 0.09), 0.25, len(t), rng), w, "actor/pg_clipfrac_lower")
    toward(t, around(between(level, 0.04, 0.15), 0.15, len(t), rng), w, "actor/pg_clipfrac")
    toward(t, around(between(level, 0.006, 0.015), 0.3, len(t), rng), w, "actor/ppo_kl")
    times(t, between(level, 1.5, 3), w, "actor/grad_norm")


def pg_loss_outlier(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Two or three bad steps after each other, again and again: loss, gradient and update KL leave their bands."""
    start = int(np.argmax(w > 0))
    hit = (w > 0) & ((np.arange(len(t)) - start) % 9 < 3)
    size = between(level, 20, 120)
    t["actor/pg_loss"] = np.where(
        hit, np.abs(t["actor/pg_loss"] + 0.01) * around(size, 0.2, len(t), rng), t["actor/pg_loss"]
    )
    t["actor/grad_norm"] = np.where(
        hit, t["actor/grad_norm"] * around(between(level, 6, 25), 0.2, len(t), rng), t["actor/grad_norm"]
    )
    if "actor/ppo_kl" in t:
        t["actor/ppo_kl"] = np.where(hit, around(between(level, 0.01, 0.05), 0.3, len(t), rng), t["actor/ppo_kl"])


def grad_norm_spike(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    start = int(np.argmax(w > 0))
    hit = (w > 0) & ((np.arange(len(t)) - start) % 5 == 0)
    t["actor/grad_norm"] = np.where(
        hit, t["actor/grad_norm"] * around(between(level, 20, 200), 0.25, len(t), rng), t["actor/grad_norm"]
    )
    kept_down(t, between(level, 0.9, 0.6), later(w, 8), rng)


def grad_norm_growth(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    start = int(np.argmax(w > 0))
    steps = np.maximum(0, np.arange(len(t)) - start)
    doubled = between(level, 38, 18)
    t["actor/grad_norm"] = t["actor/grad_norm"] * np.minimum(2 ** (steps / doubled), 400.0)
    kept_down(t, between(level, 0.85, 0.5), later(w, 40), rng)


def nan_reward(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """The grader returns NaN now and then: score, advantages, loss and gradient of that step are lost."""
    hit = (w > 0) & ((rng.random(len(t)) < between(level, 0.2, 0.6)) | (w.cumsum() <= 1))
    for name in list(t.columns):
        if name.startswith(("critic/score/", "critic/rewards/", "critic/advantages/", "critic/returns/")) or name in (
            "actor/pg_loss", "actor/grad_norm", "actor/loss",
        ):  # fmt: skip
            t[name] = np.where(hit, np.inf, t[name])


def nan_for_good(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """From one step on the weights are NaN: every loss too, the text is one sign up to the cap, nothing scores."""
    gone = w > 0
    for name in ("actor/pg_loss", "actor/grad_norm", "actor/ppo_kl", "actor/entropy", *KL, "actor/loss"):
        if name in t:
            t[name] = np.where(gone, np.inf, t[name])
    after = later(gone.astype(float), 1)
    kept_down(t, 0.0, after, rng)
    toward(t, float(t.cap), after, "response_length/mean", "response_length/max", "response_length/min")
    toward(t, 1.0, after, "response_length/clip_ratio", "response_length_non_aborted/clip_ratio")


def entropy_collapse(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    start = float(np.nanmedian(t.before["actor/entropy"]))
    target = min(start * 0.15, between(level, 0.05, 0.001))
    times(t, target / start, w, "actor/entropy", *PPL)
    times(t, between(level, 0.5, 0.1), w, "actor/grad_norm", "actor/pg_loss")
    still(t, w, rng)
    kept_down(t, between(level, 0.85, 0.5), later(w, 6), rng)


def entropy_explosion(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config[f"{ACTOR}.entropy_coeff"] = 0.02
    start = float(np.nanmedian(t.before["actor/entropy"]))
    target = start + between(level, 1.5, 7.0) + start
    toward(t, around(target, 0.04, len(t), rng), w, "actor/entropy", *PPL)
    times(t, between(level, 2.2, 5), w, "actor/grad_norm")
    toward(t, around(between(level, 0.5, 4.0), 0.15, len(t), rng), w, *KL)
    lengths(t, between(level, 1.35, 1.8), w)
    kept_down(t, between(level, 0.6, 0.03), later(w, 2), rng)


def sampling_mismatch(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """The engine cuts the distribution that the trainer takes for whole."""
    t.config[f"{ROLLOUT}.top_p"] = 0.7
    t.config[f"{ROLLOUT}.top_k"] = 20
    gap = between(level, 0.02, 0.06)
    toward(t, around(gap, 0.05, len(t), rng), w, "training/rollout_probs_diff_mean")
    toward(t, around(3 * gap, 0.05, len(t), rng), w, "training/rollout_probs_diff_std")
    toward(t, around(gap, 0.1, len(t), rng), w, "rollout_corr/kl", "rollout_corr/k3_kl")
    toward(t, 1 - around(gap, 0.1, len(t), rng), w, "training/rollout_actor_probs_pearson_corr")
    kept_down(t, between(level, 0.97, 0.9), later(w, 5), rng)


def sampling_too_hot(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config[f"{ROLLOUT}.temperature"] = round(between(level, 1.4, 1.9), 2)
    times(t, between(level, 2.5, 6), w, "actor/entropy", *PPL)
    saved = t[str(t.validation)].copy() if t.validation else None
    kept_down(t, between(level, 0.4, 0.12), w, rng)
    lengths(t, 1.15, w)
    if saved is not None:
        t[str(t.validation)] = saved


def kl_ref_drift(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    toward(t, around(between(level, 0.8, 8.0), 0.1, len(t), rng), w, *KL)
    kept_down(t, between(level, 0.75, 0.3), later(w, 6), rng)


def kl_coef_too_high(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    coefficient = between(level, 2.0, 30.0)
    for key in (f"{ACTOR}.kl_loss_coef", "algorithm.kl_ctrl.kl_coef"):
        if key in t.config:
            t.config[key] = coefficient
    toward(t, coefficient, w, "actor/kl_coef", "actor/reward_kl_penalty_coeff")
    toward(t, around(between(level, 6e-5, 8e-6), 0.3, len(t), rng), w, *KL)
    toward(t, around(float(t["actor/entropy"][0]), 0.015, len(t), rng), w, "actor/entropy", *PPL)
    times(t, 0.3, w, "actor/ppo_kl")
    still(t, w, rng)


def kl_negative(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    toward(t, -around(between(level, 0.03, 0.4), 0.15, len(t), rng), w, *KL)
    t.config[f"{ACTOR}.kl_loss_type"] = "kl"
    t.config[f"{ROLLOUT}.top_p"] = 0.8


def kl_clamped(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """A few tokens at the clamp of the estimator carry the mean; perplexity hardly moves."""
    toward(t, np.minimum(around(between(level, 4.0, 9.0), 0.25, len(t), rng), 9.97), w, *KL)
    t.config[f"{ACTOR}.kl_loss_type"] = "low_var_kl"
    times(t, between(level, 1.5, 4), w, "actor/grad_norm")
    kept_down(t, between(level, 0.95, 0.8), later(w, 8), rng)
