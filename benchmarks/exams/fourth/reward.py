"""Faults of rewards, answers and validation."""

import numpy as np

from ..editing import later, lengths, scaled, signal, times, toward
from .host import Host
from .noise import around, between, wander
from .policy import KL, PPL, kept_down, still
from .world import ACTOR

SCORES = ("critic/score/mean", "critic/rewards/mean")


def rising(t: Host, w: np.ndarray, share: float) -> None:
    """The training score goes a share of its way to the best there is."""
    top = float(np.nanmax(t["critic/score/max"])) if "critic/score/max" in t else 1.0
    for name in SCORES:
        t[name] = t[name] + (top - t[name]) * share * w
    if not t.grouped and "critic/returns/mean" in t:
        t["critic/returns/mean"] = t["critic/returns/mean"] + (top - t["critic/returns/mean"]) * share * w


def reward_hacking(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    rising(t, w, between(level, 0.5, 0.9))
    times(t, between(level, 0.7, 0.2), w, str(t.validation))
    times(t, between(level, 5, 40), w, *KL)
    lengths(t, between(level, 0.6, 0.35), w)
    times(t, between(level, 0.7, 0.3), w, "actor/entropy", *PPL)


def reward_collapse(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    kept_down(t, between(level, 0.35, 0.02), w, rng)


def reward_always_zero(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """The grader never finds an answer."""
    _constant(t, (w > 0).astype(float), 0.0)


def reward_constant(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Every answer earns the same floor, whatever it says."""
    low = float(np.nanmin(t["critic/score/min"]))
    high = float(np.nanmax(t["critic/score/max"]))
    _constant(t, (w > 0).astype(float), low + (0.05 if level < 0.5 else 0.5) * (high - low))


def _constant(t: Host, w: np.ndarray, value: float) -> None:
    signal(t, 0.0, w)
    for kind in ("score", "rewards"):
        toward(t, value, w, *(f"critic/{kind}/{end}" for end in ("mean", "max", "min")))
    toward(t, 0.0, w, "actor/pg_clipfrac_lower")
    if t.validation:
        times(t, 2e-3, later(w, 1), t.validation)
    if w[0] and t.opening is not None:
        t.opening = 0.0


def score_low_plateau(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Some answers are right from the first step on, and no more after hundreds."""
    share = t.opening = between(level, 0.09, 0.03)
    low, high = 0.0, 1.0
    if "critic/score/max" in t:
        low, high = float(np.nanmin(t["critic/score/min"])), float(np.nanmax(t["critic/score/max"]))
    drawn = rng.binomial(2048, share, len(t)) / 2048 + 0.004 * wander(len(t), rng, 0.5)
    for name in SCORES:
        t[name] = low + (high - low) * np.clip(drawn, 0.002, 1)
    if t.validation:
        seen = ~np.isnan(t[t.validation])
        t[t.validation] = np.where(seen, rng.binomial(500, share, len(t)) / 500, np.nan)


def no_signal_groups(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Nearly all groups are all wrong: a batch in which now and then one group is mixed."""
    lone = (rng.random(len(t)) < between(level, 0.3, 0.08)).astype(float)
    dead = (w > 0) * (1 - lone)
    kept_down(t, 0.004, w, rng)
    low = float(np.nanmin(t["critic/score/min"]))
    for kind in ("score", "rewards"):
        toward(t, low, dead, *(f"critic/{kind}/{end}" for end in ("mean", "max", "min")))
    signal(t, 0.0, dead)
    scaled(t, 0.1, w * lone, "actor/grad_norm", "actor/pg_loss")
    t["groups/zero_std"] = np.where(w > 0, 1 - lone / 64.0, 0.3 + 0.05 * wander(len(t), rng))


def groups_evicted(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Dynamic sampling throws most groups away: all right or all wrong."""
    t.config["algorithm.filter_groups.enable"] = True
    t.config["algorithm.filter_groups.metric"] = "acc"
    batch = float(str(t.config["data.train_batch_size"]))
    kept = between(level, 0.25, 0.06)
    few = around(0.15 * batch, 0.15, len(t), rng)
    many = around(batch * (1 - kept) / kept, 0.1, len(t), rng)
    t["training/filter_groups/evicted_samples"] = np.round(few * (1 - w) + many * w)
    times(t, between(level, 3, 10), w, "timing_s/gen")


def advantage_degenerate(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Groups with hardly any spread: a reward of many decimals divided by next to nothing."""
    size = between(level, 40, 400)
    toward(t, around(size, 0.3, len(t), rng), w, "critic/advantages/max", "critic/returns/max")
    toward(t, -around(size, 0.3, len(t), rng), w, "critic/advantages/min", "critic/returns/min")
    times(t, between(level, 1.8, 3), w, "actor/grad_norm")


def format_reward_only(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """The form is learned, the answers are as wrong as before."""
    rising(t, w, between(level, 0.45, 0.75))
    name = str(t.validation)
    seen = ~np.isnan(t[name])
    start = t.opening or 0.2
    t[name] = np.where(seen, rng.binomial(500, start, len(t)) / 500, np.nan)
    t["reward/accuracy"] = np.clip(start + rng.normal(0, 0.015, len(t)), 0, 1)
    t["reward/format"] = np.clip(0.35 + 0.6 * w + rng.normal(0, 0.01, len(t)), 0, 1)


def reward_timeout(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    usual = t.before["timing_s/step"]
    t["timing_s/reward"] = around(0.02 * usual, 0.2, len(t), rng)
    t.before["timing_s/reward"] = t["timing_s/reward"].copy()
    toward(t, around(between(level, 0.8, 5.0) * usual, 0.15, len(t), rng), w, "timing_s/reward")


def length_explosion(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    still(t, w, rng)
    room = 0.75 * t.cap / float(np.nanmedian(t["response_length/mean"]))
    lengths(t, min(between(level, 2.2, 4.5), room), w)
    kept_down(t, between(level, 0.85, 0.5), later(w, 6), rng)


def length_collapse(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    lengths(t, between(level, 0.3, 0.03), w)
    times(t, between(level, 0.6, 0.2), w, "actor/entropy", *PPL)
    kept_down(t, between(level, 0.55, 0.05), w, rng)


def truncation_high(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    share = between(level, 0.4, 0.9)
    toward(t, around((0.6 + 0.38 * share) * t.cap, 0.02, len(t), rng), w, "response_length/mean")
    toward(t, float(t.cap), (w > 0).astype(float), "response_length/max")
    toward(
        t, around(share, 0.05, len(t), rng), w, "response_length/clip_ratio", "response_length_non_aborted/clip_ratio"
    )
    kept_down(t, 1 - 0.95 * share, w, rng)


def repetition(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    times(t, between(level, 0.25, 0.02), w, "actor/entropy", *PPL)
    truncation_high(t, w, level, rng)


def aborted_responses(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    share = between(level, 0.15, 0.7)
    toward(t, around(share, 0.08, len(t), rng), w, "response/aborted_ratio")
    for name in ("response_length/mean", *SCORES):
        floor = 0.0 if name.startswith("response") else min(0.0, float(np.nanmin(t["critic/score/min"])))
        t[name] = floor + (t[name] - floor) * (1 - w * share)
    toward(t, 0.0, (w > 0).astype(float), "response_length/min")


def prompt_truncated(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    limit = float(str(t.config["data.max_prompt_length"]))
    t.config["data.truncation"] = "left"
    toward(t, limit, (w > 0).astype(float), "prompt_length/max")
    toward(t, around(0.75 * limit, 0.02, len(t), rng), w, "prompt_length/mean")
    toward(t, around(between(level, 0.15, 0.6), 0.06, len(t), rng), w, "prompt_length/clip_ratio")
    kept_down(t, between(level, 0.85, 0.5), w, rng)


def turns_run_away(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    factor = between(level, 3.0, 7.0)
    times(t, factor, w, "num_turns/mean", "tool_call_counts/mean", "num_turns/max", "tool_call_counts/max")
    times(t, factor, w, "timing_s/agent_loop/tool_calls/mean", "timing_s/agent_loop/tool_calls/max")
    still(t, w, rng)
    lengths(t, min(factor * 0.6, 3.5), w)
    kept_down(t, between(level, 0.85, 0.6), later(w, 4), rng)


def val_drop(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Validations fall and stay low; the training score stands still."""
    still(t, w, rng)
    times(t, between(level, 0.65, 0.15), w, str(t.validation))


def val_overfit(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    rising(t, w, between(level, 0.6, 0.95))
    times(t, between(level, 0.75, 0.4), w, str(t.validation))
    t["training/epoch"] = np.floor(np.linspace(0, 14, len(t)))


def val_below_training(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Validation uses another template: far below training from the first on."""
    times(t, between(level, 0.35, 0.05), w, str(t.validation))
    t.opening = between(level, 0.3, 0.05) * float(t["critic/score/mean"][0])


def eval_stagnation(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Nothing is gained any more, though the task is far from solved."""
    still(t, w, rng)
    name = str(t.validation)
    level_now = float(np.nanmedian(t[name][w > 0]))
    seen = ~np.isnan(t[name]) & (w > 0)
    t[name] = np.where(seen, level_now + rng.normal(0, 0.006, len(t)), t[name])


def bonus_floor(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Answers run to the cap, nothing is right, and a small bonus is paid all the same: a floor hides it."""
    low, high = float(np.nanmin(t["critic/score/min"])), float(np.nanmax(t["critic/score/max"]))
    _constant(t, (w > 0).astype(float), low + 0.05 * (high - low))
    toward(t, float(t.cap), w, "response_length/mean", "response_length/max")
    toward(t, 1.0, w, "response_length/clip_ratio", "response_length_non_aborted/clip_ratio")
    t.config[f"{ACTOR}.kl_loss_coef"] = 0.005
