"""Faults of rewards, lengths and validation."""

import numpy as np

from .carriers import Table
from .editing import flat_score, later, lengths, noisy, score_to, signal, times, toward
from .policy import KL


def always_zero(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """The grader finds nothing: every score 0 from some step on; texts as before."""
    score_to(t, 0.0, (w > 0).astype(float), rng)
    toward(
        t,
        0.0,
        (w > 0).astype(float),
        "critic/score/max",
        "critic/rewards/max",
        "critic/score/mean",
        "critic/rewards/mean",
    )
    signal(t, 0.0, (w > 0).astype(float))
    toward(t, 1.0, (w > 0).astype(float), "groups/zero_std")


def collapse(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """The score falls and stays there, with nothing else in the log to say why."""
    score_to(t, 0.1 if gross else 0.4, w, rng)


def hacking(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """The reward is gamed: score up, validation down, KL up, answers shorter or longer."""
    for name in ("critic/score/mean", "critic/rewards/mean"):
        toward(t, 0.97 + rng.normal(0.0, 0.008, len(t)), w, name)
    times(t, 0.3 if gross else 0.75, w, str(t.validation))
    times(t, 30 if gross else 6, w, *KL)
    times(t, 0.4 if gross else 0.65, w, "actor/entropy")
    lengths(t, 0.45 if gross else 0.65, w)


def overfit(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Prompts are known by heart: training score up, validation down, nothing else moves."""
    for name in ("critic/score/mean", "critic/rewards/mean"):
        toward(t, 0.98 + rng.normal(0.0, 0.006, len(t)), w, name)
    if "training/epoch" in t:
        t["training/epoch"] = np.floor(np.linspace(0, 12, len(t)))
    times(t, 0.6 if gross else 0.82, w, str(t.validation))


def length_explosion(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Answers grow without any gain."""
    flat_score(t, w)
    t.cap = max(t.cap, 256)
    t.config["data.max_response_length"] = t.cap
    lengths(t, 3.5 if gross else 2.0, w)
    score_to(t, 0.6 if gross else 0.85, later(w, 5), rng)


def length_collapse(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Answers shrink to nearly nothing, and the score with them."""
    lengths(t, 0.08 if gross else 0.3, w)
    times(t, 0.3 if gross else 0.6, w, "actor/entropy")
    score_to(t, 0.05 if gross else 0.5, w, rng)


def truncation(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Answers run into the cap: a large share is cut, cut answers score nothing."""
    share = 0.65 if gross else 0.32
    toward(t, noisy(0.9 * t.cap if gross else 0.75 * t.cap, 0.03, t, rng), w, "response_length/mean")
    toward(t, float(t.cap), (w > 0).astype(float), "response_length/max")
    toward(t, noisy(share, 0.08, t, rng), w, "response_length/clip_ratio", "response_length_non_aborted/clip_ratio")
    score_to(t, 1.0 - share, w, rng)


def repetition(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Loops: entropy falls, answers run to the cap, the score falls."""
    times(
        t, 0.05 if gross else 0.2, w, "actor/entropy", "rollout_corr/rollout_log_ppl", "rollout_corr/training_log_ppl"
    )
    truncation(t, w, gross, rng)


def aborted(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """The engine gives up on a share of the prompts: empty answers."""
    share = 0.5 if gross else 0.12
    toward(t, noisy(share, 0.15, t, rng), w, "response/aborted_ratio")
    scale = 1.0 - w * share
    for name in ("response_length/mean", "critic/score/mean", "critic/rewards/mean"):
        t[name] = t[name] * scale
    toward(t, 0.0, (w > 0).astype(float), "response_length/min")


def prompts_cut(t: Table, w: np.ndarray, gross: bool, rng: np.random.Generator) -> None:
    """Prompts longer than the limit lose their end."""
    limit = float(t.config["data.max_prompt_length"])
    toward(t, limit, (w > 0).astype(float), "prompt_length/max")
    toward(t, noisy(0.8 * limit, 0.02, t, rng), w, "prompt_length/mean")
    toward(t, noisy(0.6 if gross else 0.25, 0.1, t, rng), w, "prompt_length/clip_ratio")
    score_to(t, 0.5 if gross else 0.8, w, rng)
