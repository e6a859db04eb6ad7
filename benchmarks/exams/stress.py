"""Healthy runs that look odd: what a good physician leaves alone."""

from collections.abc import Callable

import numpy as np

from .carriers import Table
from .editing import REWARDS, lengths, noisy, scaled, strength, times, toward
from .machines import PHASES
from .policy import KL

SCORES = ("critic/score/mean", "critic/rewards/mean")
Kind = Callable[[Table, np.random.Generator], None]


def plain(t: Table, rng: np.random.Generator) -> None:
    """Nothing changed."""


def warm_up(t: Table, rng: np.random.Generator) -> None:
    """The learning rate climbs from 0 over a tenth of the run."""
    ends = max(5, len(t) // 10)
    t.config["actor_rollout_ref.actor.optim.lr_warmup_steps"] = ends
    rise = np.minimum(1.0, np.arange(len(t)) / ends)
    t["actor/lr"] = np.full(len(t), np.nanmax(t["actor/lr"])) * rise
    t["actor/ppo_kl"] = t["actor/ppo_kl"] * rise**2


def cosine(t: Table, rng: np.random.Generator) -> None:
    """The learning rate falls to 0 along a cosine, as the schedule says, over the whole run."""
    fall = 0.5 * (1 + np.cos(np.pi * np.arange(len(t)) / len(t)))
    t.config["actor_rollout_ref.actor.optim.lr_scheduler_type"] = "cosine"
    t.config["trainer.total_training_steps"] = len(t)
    t["actor/lr"] = np.full(len(t), np.nanmax(t["actor/lr"])) * fall
    t["actor/ppo_kl"] = t["actor/ppo_kl"] * fall**2


def curriculum(t: Table, rng: np.random.Generator) -> None:
    """Harder problems from the middle on: the score steps down by a third and climbs again."""
    half = len(t) // 2
    dip = np.where(np.arange(len(t)) >= half, 0.33 * np.exp(-(np.arange(len(t)) - half) / (0.25 * len(t))), 0.0)
    for name in REWARDS:
        if name in t:
            t[name] = t[name] * (1 - dip)
    lengths(t, 1.2, strength(len(t), half, max(1, len(t) // 20)))


def reward_times_hundred(t: Table, rng: np.random.Generator) -> None:
    """Rewards of a hundred points: scores, returns and values by 100, value loss by 10,000."""
    for name in list(t.columns):
        if name.startswith(("critic/score", "critic/rewards", "critic/returns", "critic/values", "critic/vpred")):
            t[name] = t[name] * 100.0
    scaled(t, 1e4, np.ones(len(t)), "critic/vf_loss", "critic/loss")
    scaled(t, 100.0, np.ones(len(t)), "critic/grad_norm")


def reward_model(t: Table, rng: np.random.Generator) -> None:
    """Scores of a reward model: from -4 to 2, with bounds far out."""
    for name in SCORES:
        t[name] = -4.0 + 6.0 * t[name]
    for name in ("critic/score", "critic/rewards"):
        if f"{name}/max" in t:
            t[f"{name}/max"] = t[f"{name}/mean"] + noisy(6.0, 0.1, t, rng)
            t[f"{name}/min"] = t[f"{name}/mean"] - noisy(6.0, 0.1, t, rng)
    t.columns = {name: values for name, values in t.columns.items() if not name.startswith("val-")}


def sparse(t: Table, rng: np.random.Generator) -> None:
    """Few answers right: from 4 in a thousand to 4 in a hundred."""
    chance = np.linspace(0.004, 0.04, len(t))
    drawn = rng.binomial(512, chance) / 512
    for name in SCORES:
        t[name] = drawn
    if t.validation:
        seen = ~np.isnan(t[t.validation])
        t[t.validation] = np.where(seen, rng.binomial(512, chance) / 512, np.nan)
    for name in ("critic/score/max", "critic/rewards/max"):
        if name in t:
            t[name] = (drawn > 0).astype(float)


def growing_answers(t: Table, rng: np.random.Generator) -> None:
    """Reasoning grows: answers three times as long at the end, and the score up with them."""
    t.cap = max(t.cap, int(np.nanmax(t["response_length/mean"]) * 8))
    t.config["data.max_response_length"] = t.cap
    lengths(t, 3.0, np.linspace(0.0, 1.0, len(t)))


def terser_answers(t: Table, rng: np.random.Generator) -> None:
    """Verbosity goes early: answers a third shorter while the score rises."""
    lengths(t, 0.6, np.minimum(1.0, np.arange(len(t)) / (0.2 * len(t))))


def entropy_falls(t: Table, rng: np.random.Generator) -> None:
    """Entropy falls to a sixth over the run, and the score rises all the while."""
    times(t, 0.17, np.linspace(0.0, 1.0, len(t)), "actor/entropy")


def entropy_rises(t: Table, rng: np.random.Generator) -> None:
    """Clip-higher: entropy rises by three quarters to a plateau, and the score rises."""
    t.config["actor_rollout_ref.actor.clip_ratio_high"] = 0.28
    times(t, 1.75, np.minimum(1.0, np.arange(len(t)) / (0.3 * len(t))), "actor/entropy")


def kl_grows(t: Table, rng: np.random.Generator) -> None:
    """The distance to the reference grows to 0.3 nats while the score rises."""
    toward(t, 0.3 * np.linspace(0.0, 1.0, len(t)) * noisy(1.0, 0.08, t, rng), np.ones(len(t)), *KL)


def lone_spikes(t: Table, rng: np.random.Generator) -> None:
    """One gradient twelve times the others, one large update, one bad batch, one slow step: each over at once."""
    at = np.sort(rng.choice(np.arange(len(t) // 5, len(t)), size=4, replace=False))
    t["actor/grad_norm"][at[0]] *= 12
    t["actor/ppo_kl"][at[1]] = 0.03
    for name in SCORES:
        t[name][at[2]] *= 0.6
    for phase in PHASES:
        if f"timing_s/{phase}" in t:
            t[f"timing_s/{phase}"][at[3]] *= 4


def resumed(t: Table, rng: np.random.Generator) -> None:
    """Killed in the middle and resumed from a checkpoint some steps back."""
    half = len(t) // 2
    back = min(10, max(2, len(t) // 15))
    t.steps = t.steps[:half] + [step - back for step in t.steps[half:]]


def small_batches(t: Table, rng: np.random.Generator) -> None:
    """Sixteen answers a batch: scores in sixteenths, wild gradients."""
    drawn = rng.binomial(16, np.clip(t["critic/score/mean"], 0.0, 1.0)) / 16
    for name in SCORES:
        t[name] = drawn
    t["actor/grad_norm"] = t["actor/grad_norm"] * noisy(1.0, 0.45, t, rng)
    if "critic/vf_loss" in t:
        t["critic/vf_loss"] = t["critic/vf_loss"] * noisy(1.0, 0.4, t, rng)


def saturated(t: Table, rng: np.random.Generator) -> None:
    """All solved from two fifths on: score 1, no advantage left, gradients and losses at 0."""
    w = strength(len(t), 2 * len(t) // 5, max(2, len(t) // 8))
    toward(t, 1.0, w, *SCORES, str(t.validation), "critic/score/min", "critic/rewards/min")
    ends = (w >= 1.0).astype(float)
    scaled(t, 0.0 if t.algorithm != "ppo" else 0.05, ends, "actor/pg_loss", "actor/grad_norm", "actor/ppo_kl")
    if t.algorithm != "ppo":
        scaled(
            t,
            0.0,
            ends,
            *(f"critic/{kind}/{end}" for kind in ("advantages", "returns") for end in ("mean", "max", "min")),
        )
    toward(t, 1.0, ends, "groups/zero_std")
    times(t, 0.5, w, "actor/entropy")


def jitter(t: Table, rng: np.random.Generator) -> None:
    """A shared file system and neighbours: times wander by a fifth, a checkpoint and a validation every 20 steps."""
    for phase in PHASES:
        if f"timing_s/{phase}" in t:
            t[f"timing_s/{phase}"] = t[f"timing_s/{phase}"] * noisy(1.0, 0.2, t, rng)
    usual, saves = np.nanmedian(t["timing_s/step"]), np.array(t.steps) % 20 == 0
    t["timing_s/save_checkpoint"] = np.where(saves, noisy(0.6 * usual, 0.2, t, rng), np.nan)
    t["timing_s/testing"] = np.where(saves, noisy(0.9 * usual, 0.2, t, rng), np.nan)


def first_rows_lost(t: Table, rng: np.random.Generator) -> None:
    """The first two rows hold no number for what needs a past."""
    for name in ("actor/ppo_kl", "actor/entropy", "critic/vf_explained_var", "perf/throughput"):
        if name in t:
            t[name][:2] = np.nan


def gap(t: Table, rng: np.random.Generator) -> None:
    """A logger that lost some metrics for a while."""
    for name in ("actor/entropy", "critic/score/mean", "actor/grad_norm", "response_length/mean"):
        t[name][3 * len(t) // 10 : 9 * len(t) // 20] = np.nan


def batch_doubled(t: Table, rng: np.random.Generator) -> None:
    """From the middle on twice the batch: steps take longer, throughput is higher, gradients are smaller."""
    w = strength(len(t), len(t) // 2, 1)
    for phase in PHASES:
        times(t, 1.6, w, f"timing_s/{phase}")
    times(t, 0.7, w, "actor/grad_norm")


def one_update(t: Table, rng: np.random.Generator) -> None:
    """One update a batch: update KL and clip fraction are 0 by construction."""
    t.config["actor_rollout_ref.actor.ppo_mini_batch_size"] = t.config["data.train_batch_size"]
    toward(t, 0.0, np.ones(len(t)), "actor/ppo_kl", "actor/pg_clipfrac", "actor/pg_clipfrac_lower")


def hard_set(t: Table, rng: np.random.Generator) -> None:
    """A hard set: from 5 to 15 in a hundred, slowly, with many groups all wrong."""
    drawn = rng.binomial(256, np.linspace(0.05, 0.15, len(t))) / 256
    for name in SCORES:
        t[name] = drawn
    if t.validation:
        t[t.validation] = np.where(np.isnan(t[t.validation]), np.nan, np.linspace(0.05, 0.14, len(t)))
    toward(t, 0.6, np.ones(len(t)), "groups/zero_std")


def bf16_engine(t: Table, rng: np.random.Generator) -> None:
    """Engine and trainer in bf16: a small steady difference of probabilities."""
    ones = np.ones(len(t))
    toward(t, noisy(0.0025, 0.15, t, rng), ones, "training/rollout_probs_diff_mean")
    toward(t, noisy(0.6, 0.2, t, rng).clip(0, 0.99), ones, "training/rollout_probs_diff_max")
    toward(t, 1 - noisy(0.0008, 0.2, t, rng), ones, "training/rollout_actor_probs_pearson_corr")
    toward(t, noisy(0.0007, 0.2, t, rng), ones, "rollout_corr/k3_kl", "rollout_corr/kl")


def sawtooth_memory(t: Table, rng: np.random.Generator) -> None:
    """Host memory climbs between checkpoints and falls at each, on the way to a plateau."""
    name = "actor/perf/cpu_memory_used_gb"
    if name in t:
        level = float(np.nanmedian(t[name]))
        t[name] = level * (1 + 0.25 * (np.arange(len(t)) % 25) / 25 + 0.3 * (1 - np.exp(-np.arange(len(t)) / 40)))


KINDS = (
    plain, warm_up, cosine, curriculum, reward_times_hundred, reward_model, sparse, growing_answers, terser_answers,
    entropy_falls, entropy_rises, kl_grows, lone_spikes, resumed, small_batches, saturated, jitter, first_rows_lost,
    gap, batch_doubled, one_update, hard_set, bf16_engine, sawtooth_memory,
)  # fmt: skip
