"""Faults of the policy's updates and its exploration."""

import numpy as np

from .carriers import Table
from .editing import flat_score, later, lengths, noisy, scaled, score_to, signal, times, toward

KL = ("actor/kl_loss", "actor/reward_kl_penalty")
LR = "actor_rollout_ref.actor.optim.lr"


def learning_rate_too_high(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Updates go far: update KL, clip fraction and gradients rise, entropy moves, the score falls after it."""
    t.config[LR] = float(t.config[LR]) * (100 if gross else 20)
    times(t, 100 if gross else 20, w, "actor/lr")
    toward(t, noisy(0.6 if gross else 0.09, 0.5, t, rng), w, "actor/ppo_kl")
    toward(t, np.minimum(noisy(0.38 if gross else 0.24, 0.15, t, rng), 0.8), w, "actor/pg_clipfrac")
    toward(t, noisy(0.05 if gross else 0.008, 0.6, t, rng), w, "actor/pg_clipfrac_lower")
    times(t, 12 if gross else 4, w, "actor/grad_norm")
    toward(t, noisy(2.5 if gross else 0.4, 0.2, t, rng), later(w, 1), *KL)
    times(t, 0.15 if gross else 0.6, later(w, 2), "actor/entropy")
    score_to(t, 0.05 if gross else 0.45, later(w, 3), rng)


def too_many_epochs(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Many passes over one batch: update KL and clip fraction high, the learning rate as it was."""
    t.config["actor_rollout_ref.actor.ppo_epochs"] = 16 if gross else 8
    toward(t, noisy(0.25 if gross else 0.06, 0.4, t, rng), w, "actor/ppo_kl")
    toward(t, np.minimum(noisy(0.42 if gross else 0.27, 0.12, t, rng), 0.8), w, "actor/pg_clipfrac")
    times(t, 3 if gross else 1.8, w, "actor/grad_norm")
    times(t, 8 if gross else 4, w, "timing_s/update_actor")
    score_to(t, 0.4 if gross else 0.75, later(w, 5), rng)


def learning_rate_too_low(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Nothing moves: update KL at rounding noise, score and entropy flat."""
    small = 1e-4 if gross else 1e-2
    t.config[LR] = float(t.config[LR]) * small
    times(t, small, w, "actor/lr")
    toward(t, rng.normal(0.0, 2e-7 if gross else 2e-6, len(t)), w, "actor/ppo_kl")
    toward(t, 0.0, w, "actor/pg_clipfrac", "actor/pg_clipfrac_lower")
    toward(t, noisy(1e-7 if gross else 1e-6, 0.5, t, rng), w, *KL)
    level = float(t["actor/entropy"][0])
    toward(t, noisy(level, 0.02, t, rng), w, "actor/entropy")
    flat_score(t, w)


def learning_rate_zero(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """The schedule ends long before the run does."""
    t.config["trainer.total_training_steps"] = len(t)
    toward(t, 0.0 if gross else 0.02 * float(np.nanmax(t["actor/lr"])), w, "actor/lr")
    toward(t, rng.normal(0.0, 1e-8 if gross else 1e-6, len(t)), w, "actor/ppo_kl")
    toward(t, 0.0, w, "actor/pg_clipfrac")
    flat_score(t, w)


def entropy_collapse(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Exploration ends: entropy falls to nearly nothing, learning stops, gradients fade."""
    times(t, 0.003 if gross else 0.05, w, "actor/entropy")
    times(t, 0.1 if gross else 0.5, w, "actor/grad_norm", "actor/pg_loss")
    times(t, 0.01 if gross else 0.08, w, "rollout_corr/rollout_log_ppl", "rollout_corr/training_log_ppl")
    flat_score(t, w)
    score_to(t, 0.55 if gross else 0.8, later(w, 5), rng)


def entropy_explosion(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Text turns to noise: entropy of nats, longer answers, larger gradients, the score falls."""
    t.config["actor_rollout_ref.actor.entropy_coeff"] = 0.05
    toward(t, noisy(6.0 if gross else 2.2, 0.05, t, rng), w, "actor/entropy")
    toward(
        t,
        noisy(6.0 if gross else 2.2, 0.05, t, rng),
        w,
        "rollout_corr/rollout_log_ppl",
        "rollout_corr/training_log_ppl",
    )
    times(t, 4 if gross else 2.2, w, "actor/grad_norm")
    toward(t, noisy(3.0 if gross else 0.7, 0.2, t, rng), w, *KL)
    lengths(t, 1.6 if gross else 1.35, w)
    score_to(t, 0.03 if gross else 0.4, later(w, 2), rng)


def reference_drift(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """The policy walks away from the reference while each update stays small; validations turn down."""
    toward(t, noisy(5.0 if gross else 1.4, 0.15, t, rng), w, *KL)
    score_to(t, 0.35 if gross else 0.7, later(w, 8), rng)


def kl_penalty_too_strong(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """The penalty holds the policy at the reference: KL near 0, nothing learnt."""
    big = 50.0 if gross else 5.0
    for key in ("actor_rollout_ref.actor.kl_loss_coef", "algorithm.kl_ctrl.kl_coef"):
        if key in t.config:
            t.config[key] = big
    toward(t, big, w, "actor/kl_coef", "actor/reward_kl_penalty_coeff")
    toward(t, noisy(2e-5 if gross else 1e-4, 0.5, t, rng), w, *KL)
    level = float(t["actor/entropy"][0])
    toward(t, noisy(level, 0.02, t, rng), w, "actor/entropy")
    times(t, 6 if gross else 3, w, "actor/grad_norm")
    flat_score(t, w)


def not_a_number(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Losses and gradients stop being numbers: for good, or now and then."""
    lost = (w > 0) & ((rng.random(len(t)) < 0.35) | (w.cumsum() <= 1.0) | gross)
    for name in ("actor/pg_loss", "actor/grad_norm", "actor/ppo_kl", "actor/kl_loss"):
        if name in t and not np.isnan(t[name]).all():
            t[name] = np.where(lost, np.inf, t[name])
    if gross:
        score_to(t, 0.0, later(w, 1), rng)


def gradient_spikes(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Every few steps a gradient far above the others."""
    hit = (w > 0) & ((rng.random(len(t)) < 0.25) | (w.cumsum() <= 1.0))
    size = noisy(80 if gross else 15, 0.3, t, rng)
    t["actor/grad_norm"] = np.where(hit, t["actor/grad_norm"] * size, t["actor/grad_norm"])
    score_to(t, 0.5 if gross else 0.85, later(w, 6), rng)


def gradient_growth(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """The gradient norm climbs without end."""
    times(t, 60 if gross else 8, w, "actor/grad_norm")
    score_to(t, 0.6 if gross else 0.9, later(w, 10), rng)


def all_wrong(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Every answer of every group is wrong: no advantage, no loss, no gradient."""
    score_to(t, 0.0, w, rng)
    signal(t, 0.0, w)
    toward(t, 0.0, w, "critic/score/max", "critic/rewards/max")
    toward(t, 1.0, w, "groups/zero_std")


def groups_agree(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """A task far too hard for the policy: nearly all groups are all wrong, a group in ten or thirty is mixed."""
    score_to(t, 0.01 if gross else 0.03, w, rng)
    scaled(t, 0.1, w, "actor/pg_loss", "actor/grad_norm")
    toward(t, 0.97 if gross else 0.9, w, "groups/zero_std")
