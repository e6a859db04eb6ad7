"""Healthy runs of the fourth paper that look odd."""

from collections.abc import Callable

import numpy as np

from ..editing import lengths, times, toward
from .host import Host, of_rewards, phases
from .noise import around, share_noise, wander
from .policy import KL, LR, PPL, kept_down
from .schedule import resumed_twice
from .world import ACTOR

Calm = Callable[[Host, np.random.Generator], None]
SCORES = ("critic/score/mean", "critic/rewards/mean")


def as_it_is(t: Host, rng: np.random.Generator) -> None:
    """Nothing changed."""


def harder_stage(t: Host, rng: np.random.Generator) -> None:
    """Two stages of harder problems: the score steps down by a quarter at each and climbs again."""
    dip = np.zeros(len(t))
    for place in (0.35, 0.7):
        row = int(place * len(t))
        dip[row:] = np.maximum(dip[row:], np.exp(-np.arange(len(t) - row) / (0.2 * len(t) + 5)))
    kept_down(t, 0.75, dip, rng)
    lengths(t, 1.15, dip)
    times(t, 1.15, dip, "actor/entropy", *PPL)


def easier_stage(t: Host, rng: np.random.Generator) -> None:
    """Easier problems from the middle on: the score jumps up, gradients and lengths go down at once."""
    w = (np.arange(len(t)) >= len(t) // 2).astype(float)
    high = float(np.nanmax(t["critic/score/max"]))
    for name in SCORES:
        t[name] = t[name] + 0.35 * w * (high - t[name])
    lengths(t, 0.85, w)
    times(t, 0.85, w, "actor/grad_norm")


def slow_warm_up(t: Host, rng: np.random.Generator) -> None:
    """The rate climbs for a quarter of the run."""
    ends = max(6, len(t) // 4)
    rise = np.minimum(1.0, (np.arange(len(t)) + 1) / ends)
    t.config[f"{ACTOR}.optim.lr_warmup_steps"] = ends
    t["actor/lr"] = t["actor/lr"] * rise
    t["actor/ppo_kl"] = t["actor/ppo_kl"] * rise
    t["actor/pg_clipfrac"] = t["actor/pg_clipfrac"] * rise


def linear_decay(t: Host, rng: np.random.Generator) -> None:
    """The rate falls in a line to a tenth at the planned end."""
    fall = np.linspace(1.0, 0.1, len(t))
    t.config["trainer.total_training_steps"] = len(t)
    t["actor/lr"] = t["actor/lr"] * fall
    t["actor/ppo_kl"] = t["actor/ppo_kl"] * fall
    t["actor/pg_clipfrac"] = t["actor/pg_clipfrac"] * fall


def tiny_batches(t: Host, rng: np.random.Generator) -> None:
    """Eight prompts a batch: scores that jump, gradients that jump."""
    low, high = float(np.nanmin(t["critic/score/min"])), float(np.nanmax(t["critic/score/max"]))
    share = (t["critic/score/mean"] - low) / (high - low)
    for name in SCORES:
        t[name] = low + (high - low) * share_noise(share, 8, np.random.default_rng(7))
    t["actor/grad_norm"] = t["actor/grad_norm"] * around(1.0, 0.4, len(t), rng)
    t["actor/pg_loss"] = t["actor/pg_loss"] * 3


def rarely_validated(t: Host, rng: np.random.Generator) -> None:
    """One validation in the middle and one at the end, of fifty problems, the later one by chance a little lower."""
    if t.validation:
        values = np.full(len(t), np.nan)
        level = float(np.nanmean(t[t.validation]))
        values[len(t) // 2] = min(1.0, round(level * 50) / 50 + 0.02)
        values[-1] = round(level * 50) / 50 - 0.02
        t[t.validation] = values


def reasoning_grows(t: Host, rng: np.random.Generator) -> None:
    """Answers grow to two and a half times their length while the score rises; a few more reach the cap."""
    w = np.linspace(0.0, 1.0, len(t))
    room = 0.45 * t.cap / float(np.nanmax(t["response_length/mean"]))
    lengths(t, max(1.0, min(2.5, room)), w)
    t["response_length/clip_ratio"] = t["response_length/clip_ratio"] + 0.03 * w


def entropy_falls(t: Host, rng: np.random.Generator) -> None:
    """Entropy goes down to a quarter, slowly, while the score rises."""
    times(t, 0.3, np.linspace(0.0, 1.0, len(t)), "actor/entropy", *PPL)


def kl_grows(t: Host, rng: np.random.Generator) -> None:
    """The distance to the reference grows in a line to 0.15 nats while the score rises."""
    grown = 0.15 * (np.arange(len(t)) + 1) / len(t)
    toward(t, around(1.0, 0.06, len(t), rng) * grown, np.ones(len(t)), *KL)


def solved(t: Host, rng: np.random.Generator) -> None:
    """Nearly everything is right from a third on, and stays so."""
    w = np.clip((np.arange(len(t)) - 0.2 * len(t)) / (0.15 * len(t) + 1), 0, 1)
    high = float(np.nanmax(t["critic/score/max"]))
    noise = 0.004 * np.abs(wander(len(t), rng)) * abs(high or 1.0)
    for name in SCORES:
        t[name] = t[name] * (1 - w) + w * (high - noise)
    if t.validation:
        toward(t, 0.985 + rng.normal(0, 0.004, len(t)), w, t.validation)
    times(t, 0.4, w, "actor/grad_norm", "actor/entropy", *PPL)
    toward(t, 0.93, w, "groups/zero_std")


def slow_steps(t: Host, rng: np.random.Generator) -> None:
    """Two steps that take four times as long: a node that stumbled."""
    rows = rng.choice(np.arange(2, len(t)), size=2, replace=False)
    for name in phases(t.columns):
        t[name][rows] = t[name][rows] * 4


def scale_of_points(t: Host, rng: np.random.Generator) -> None:
    """Rewards in tens: scores, returns and values ten times as large, value losses a hundred times."""
    for name in of_rewards(t):
        t[name] = t[name] * 10.0
    times(t, 100.0, np.ones(len(t)), "critic/vf_loss", "critic/loss")
    times(t, 10.0, np.ones(len(t)), "critic/grad_norm")


def below_zero(t: Host, rng: np.random.Generator) -> None:
    """A penalty for every token: all scores below zero, rising."""
    high = float(np.nanmax(t["critic/score/max"]))
    for name in of_rewards(t):
        t[name] = t[name] - high - 0.5


def one_bad_batch(t: Host, rng: np.random.Generator) -> None:
    """One batch scores half, one gradient is nine times the usual, one step has an answer at the cap; all pass."""
    at = rng.choice(np.arange(len(t) // 4, len(t)), size=3, replace=False)
    low = float(np.nanmin(t["critic/score/min"]))
    for name in SCORES:
        t[name][at[0]] = low + 0.5 * (t[name][at[0]] - low)
    t["actor/grad_norm"][at[1]] *= 9
    t["response_length/max"][at[2]] = t.cap


def more_samples(t: Host, rng: np.random.Generator) -> None:
    """From the middle on twice the answers a prompt: steps take longer, gradients are calmer."""
    w = (np.arange(len(t)) >= len(t) // 2).astype(float)
    times(t, 1.8, w, *phases(t.columns))
    times(t, 0.75, w, "actor/grad_norm")
    for name in ("perf/total_num_tokens", "global_seqlen/mean", "global_seqlen/balanced_max", "global_seqlen/max"):
        times(t, 2.0, w, name)
    if "perf/total_num_tokens" in t:
        t["perf/throughput"] = t["perf/throughput"] * np.where(w > 0, 2.0 / 1.8, 1.0)
        t.before["perf/throughput"] = np.full(len(t), np.nan)


def checkpoints_each_twenty(t: Host, rng: np.random.Generator) -> None:
    """A checkpoint every twenty steps that takes a third of a step."""
    usual = float(np.nanmedian(t["timing_s/step"]))
    saves = np.array(t.steps) % 20 == 0
    t["timing_s/save_checkpoint"] = np.where(saves, around(0.33 * usual, 0.2, len(t), rng), np.nan)


def engine_apart(t: Host, rng: np.random.Generator) -> None:
    """Another kernel in the engine: a small, steady difference; one token far off in every batch."""
    ones = np.ones(len(t))
    toward(t, around(0.0035, 0.08, len(t), rng), ones, "training/rollout_probs_diff_mean")
    toward(t, np.clip(around(0.85, 0.08, len(t), rng), 0, 0.999), ones, "training/rollout_probs_diff_max")
    toward(t, around(0.0012, 0.1, len(t), rng), ones, "rollout_corr/kl", "rollout_corr/k3_kl")


def memory_plateau(t: Host, rng: np.random.Generator) -> None:
    """Host memory rises by a third in the first steps and stays; the card's peak rises once, with a long batch."""
    rise = 1 - np.exp(-np.arange(len(t)) / 15.0)
    times(t, 1.33, rise, "actor/perf/cpu_memory_used_gb", "critic/perf/cpu_memory_used_gb")
    later_on = (np.arange(len(t)) >= 0.6 * len(t)).astype(float)
    times(t, 1.06, later_on, "actor/perf/max_memory_allocated_gb", "actor/perf/max_memory_reserved_gb")


def clip_higher(t: Host, rng: np.random.Generator) -> None:
    """A wider upper clip: entropy dips, then rises above its start and stays there."""
    x = np.arange(len(t)) / len(t)
    t.config[f"{ACTOR}.clip_ratio_high"] = 0.28
    for name in ("actor/entropy", *PPL):
        if name in t:
            start = float(np.nanmedian(t[name][:3]))
            t[name] = around(
                start * (1 - 0.3 * np.exp(-((x - 0.15) ** 2) / 0.01) + 0.35 * np.clip(x - 0.3, 0, 0.4)),
                0.03,
                len(t),
                rng,
            )


def gentle_slope(t: Host, rng: np.random.Generator) -> None:
    """A hard set and a small rate: the score rises by a hundredth in fifty steps, and rises."""
    low, high = float(np.nanmin(t["critic/score/min"])), float(np.nanmax(t["critic/score/max"]))
    share = 0.3 + 2.5e-4 * np.arange(len(t))
    for name in SCORES:
        t[name] = low + (high - low) * share_noise(share, 512, rng)
    if t.validation:
        seen = ~np.isnan(t[t.validation])
        t[t.validation] = np.where(seen, rng.binomial(2000, share, len(t)) / 2000, np.nan)


def concise(t: Host, rng: np.random.Generator) -> None:
    """A mild bonus for short answers: they shrink by two fifths, the score holds its rise."""
    lengths(t, 0.6, 1 - np.exp(-np.arange(len(t)) / (0.3 * len(t) + 3)))


def lora_rate(t: Host, rng: np.random.Generator) -> None:
    """An adapter with thirty times the rate, as adapters need; gradients a third."""
    t.config[LR] = float(str(t.config[LR])) * 30
    t.config["actor_rollout_ref.model.lora_rank"] = 32
    times(t, 30.0, np.ones(len(t)), "actor/lr")
    times(t, 0.33, np.ones(len(t)), "actor/grad_norm")


def lost_columns(t: Host, rng: np.random.Generator) -> None:
    """A logger that lost a metric here and there, another one for the first half."""
    for name in ("actor/entropy", "actor/grad_norm", "response_length/mean", "timing_s/step"):
        t[name][rng.random(len(t)) < 0.15] = np.nan
    for name in ("actor/ppo_kl", "perf/throughput"):
        if name in t:
            t[name][: len(t) // 2] = np.nan


def on_policy(t: Host, rng: np.random.Generator) -> None:
    """One update a batch: update KL and clip fraction are 0 by construction."""
    t.config[f"{ACTOR}.ppo_mini_batch_size"] = t.config["data.train_batch_size"]
    toward(t, 0.0, np.ones(len(t)), "actor/ppo_kl", "actor/pg_clipfrac", "actor/pg_clipfrac_lower")


KINDS: tuple[Calm, ...] = (
    as_it_is, harder_stage, easier_stage, slow_warm_up, linear_decay, tiny_batches, rarely_validated, reasoning_grows,
    entropy_falls, kl_grows, solved, slow_steps, resumed_twice, scale_of_points, below_zero, one_bad_batch,
    more_samples,
    checkpoints_each_twenty, engine_apart, memory_plateau, clip_higher, gentle_slope, concise, lora_rate, lost_columns,
    on_policy,
)  # fmt: skip
