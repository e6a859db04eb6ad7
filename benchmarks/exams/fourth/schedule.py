"""Faults of the learning rate's course and of resumes."""

import numpy as np

from ..editing import times, toward
from .host import Host
from .noise import around, between
from .policy import PPL, kept_down, still
from .world import ACTOR


def lr_decayed(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """The scheduler's horizon is shorter than the run."""
    t.config["trainer.total_training_steps"] = 2 * len(t)
    toward(t, 0.0 if level > 0.5 else 1e-2 * float(np.nanmax(t["actor/lr"])), w, "actor/lr")
    toward(t, rng.normal(0, 1e-8, len(t)), w * (w >= 1), "actor/ppo_kl")
    toward(t, 0.0, w * (w >= 1), "actor/pg_clipfrac", "actor/pg_clipfrac_lower")
    still(t, (w >= 1).astype(float), rng)


def lr_warmup_missing(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """The first ten steps tear at the policy; then it recovers, a little lower."""
    t.config[f"{ACTOR}.optim.lr_warmup_steps"] = 0
    t.config[f"{ACTOR}.optim.lr_warmup_steps_ratio"] = 0.0
    rough = np.exp(-np.arange(len(t)) / 4.0)
    t["actor/ppo_kl"] = t["actor/ppo_kl"] + around(between(level, 0.06, 0.4), 0.2, len(t), rng) * rough
    t["actor/pg_clipfrac"] = t["actor/pg_clipfrac"] + 0.3 * rough
    t["actor/grad_norm"] = t["actor/grad_norm"] * (1 + between(level, 12, 40) * rough)
    dip = np.exp(-np.maximum(0, np.arange(len(t)) - 4) / 12.0) * (np.arange(len(t)) >= 2)
    kept_down(t, between(level, 0.6, 0.25), dip, rng)


def optimiser_lost(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """A resume from a checkpoint without the optimiser, some steps back: all jumps at the seam."""
    start = int(np.argmax(w > 0))
    back = max(2, min(start // 2, 20))
    t.steps = t.steps[:start] + [step - back for step in t.steps[start:]]
    fade = w * np.exp(-np.maximum(0, np.arange(len(t)) - start) / 60.0)
    kept_down(t, between(level, 0.55, 0.15), fade, rng)
    times(t, between(level, 4, 12), fade, "actor/grad_norm")
    times(t, between(level, 1.6, 2.5), fade, "actor/entropy", *PPL)


def resumed_twice(t: Host, rng: np.random.Generator) -> None:
    """Stopped and resumed twice from the last checkpoint: a few steps are done again, with other samples."""
    back = max(1, min(5, len(t) // 10))
    for place in (len(t) // 3, 2 * len(t) // 3):
        t.steps = t.steps[:place] + [step - back for step in t.steps[place:]]
    rows = np.array(t.steps) - 1
    for columns in (t.columns, t.before):
        for name, values in columns.items():
            columns[name] = values[rows]
    jitter = around(1.0, 0.01, len(t), rng)
    for name in (
        "critic/score/mean",
        "critic/rewards/mean",
        "actor/entropy",
        "actor/grad_norm",
        "response_length/mean",
    ):
        t[name] = t[name] * jitter
