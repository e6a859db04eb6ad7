"""Faults that act on what is learned: each changes a cause from its onset on.

w: 0 before the onset, up to 1; level: 0 for a fault just past its definition, 1 for a gross one.
"""

from math import log

import numpy as np

from ..carriers import Columns
from ..fourth.noise import between
from .world import World


def _grown(values: np.ndarray, factor: float, w: np.ndarray) -> np.ndarray:
    return np.asarray(values * factor**w)


def rate_too_high(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["rate"] = _grown(c["rate"], between(level, 35, 200), w)


def too_many_epochs(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["epochs"] = 1 + (round(between(level, 14, 30)) - 1) * (w > 0)


def rate_too_low(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["rate"] = _grown(c["rate"], between(level, 1e-3, 1e-6), w)


def schedule_ended(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["rate"] = c["rate"] * (1 - w) if level > 0.5 else _grown(c["rate"], 5e-3, w)


def warm_up_missing(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    rough = np.exp(-np.arange(len(w)) / 5.0)
    c["rate"] = 1 + (between(level, 40, 120) - 1) * rough
    c["noise"] = 1 + between(level, 6, 25) * rough


def clip_too_tight(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["clip"] = c["clip"] * (1 - w) + between(level, 0.015, 0.006) * w


def gradient_creeps(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """Ever larger gradients from ever longer, ever more alike answers; what they teach is worse."""
    onset = int(np.argmax(w > 0))
    since = np.maximum(0, np.arange(len(w)) - onset) / max(1, len(w) - onset)
    c["noise"] = _grown(c["noise"], between(level, 4, 12), since)
    c["harm"] = c["harm"] + between(level, 0.012, 0.03) * since


def weights_not_finite(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["truth"] = np.where(w > 0, 0.0, c["truth"])
    c["unlike"] = np.where(w > 0, 40.0, c["unlike"])
    c["longer"] = np.where(w > 0, 9.0, c["longer"])


def exploration_ends(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["sharpen"] = c["sharpen"] + between(level, 0.2, 0.5) * w
    c["harm"] = c["harm"] + between(level, 0.004, 0.02) * w


def bonus_too_large(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["bonus"] = c["bonus"] + between(level, 0.09, 0.25) * w


def sampling_hot(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["heat"] = 1 + (between(level, 1.5, 1.9) - 1) * w


def sampling_cut(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["gap"] = _grown(c["gap"], between(level, 4, 8), w)


def pull_lost(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """A controller that halves its coefficient again and again: nothing holds the policy any more."""
    c["pull"] = _grown(c["pull"], 1e-3, w)
    c["loose"] = c["loose"] + between(level, 0.012, 0.12) * w
    c["harm"] = c["harm"] + between(level, 0.015, 0.06) * w


def pull_overdone(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["pull"] = _grown(c["pull"], between(level, 800, 6000), w)


def grader_gamed(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["gamed"] = c["gamed"] + between(level, 0.015, 0.06) * w
    c["wordy"] = c["wordy"] + 0.01 * w


def grader_down(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["truth"] = np.where(w > 0, 0.0, c["truth"])


def grader_indifferent(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """The same part of the reward for every answer."""
    grader_down(world, c, w, level)
    c["floor"] = np.where(w > 0, between(level, 0.1, 0.6), c["floor"])


def format_alone(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["floor"] = c["floor"] + bonus(w, level)
    c["deaf"] = np.maximum(c["deaf"], w)
    c["harm"] = c["harm"] + between(level, 0.004, 0.02) * w


def bonus(w: np.ndarray, level: float) -> np.ndarray:
    """What the format pays once it is learned, a few steps after the onset."""
    return np.asarray(between(level, 0.25, 0.45) * w * (1 - np.exp(-np.cumsum(w > 0) / 12.0)))


def data_too_hard(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["hard"] = c["hard"] + between(level, 6.5, 9.0) * w
    c["unlike"] = c["unlike"] + 5.0 * w


def filter_starves(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["hard"] = c["hard"] + between(level, 2.6, 4.0) * w


def skill_lost(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["harm"] = c["harm"] + between(level, 0.18, 0.7) * w


def nothing_learned(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["deaf"] = np.ones(len(w))
    c["hard"] = c["hard"] + between(level, 0.8, 2.0)
    c["unlike"] = c["hard"].copy()


def standstill(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["deaf"] = w


def answers_bloat(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["wordy"] = c["wordy"] + between(level, 0.018, 0.06) * w
    c["harm"] = c["harm"] + between(level, 0.03, 0.06) * w


def answers_shrink(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["wordy"] = c["wordy"] - between(level, 0.05, 0.15) * w
    c["harm"] = c["harm"] + between(level, 0.05, 0.15) * w


def cap_too_low(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    asked = log(world.cap * between(level, 0.82, 1.15) / world.length[0])
    c["longer"] = np.where(w > 0, asked, c["longer"])


def loops(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """Answers that repeat themselves to the limit: ever more certain, ever longer."""
    c["sharpen"] = c["sharpen"] + between(level, 0.09, 0.25) * w
    room = log(world.cap * between(level, 0.8, 1.1) / world.length[0])
    c["longer"] = c["longer"] + room * (1 - np.exp(-np.cumsum(w) / 8.0))


def turns_multiply(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["longer"] = c["longer"] + log(between(level, 1.5, 2.3)) * w
    c["harm"] = c["harm"] + 0.03 * w


def validation_forgotten(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """What is trained drives out what is not: the score holds, validation of other tasks falls."""
    c["unlike"] = c["unlike"] + between(level, 0.8, 2.2) * w
    c["deaf"] = np.maximum(c["deaf"], 0.7 * w)


def learned_by_heart(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["memory"] = c["memory"] + between(level, 0.008, 0.025) * w
    c["deaf"] = np.maximum(c["deaf"], w)


def template_differs(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["unlike"] = c["unlike"] + between(level, 1.6, 3.0) * w


def critic_flung(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["vrate"] = _grown(c["vrate"], between(level, 30, 300), w)


def critic_beside(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["blind"] = c["blind"] + between(level, 1.0, 2.6) * w
    c["harm"] = c["harm"] + 0.02 * w


def critic_asleep(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["vrate"] = _grown(c["vrate"], between(level, 0.01, 1e-4), w)


def engine_coarse(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """An engine in eight bits."""
    c["gap"] = _grown(c["gap"], between(level, 0.022, 0.05) / world.gap, w)


def kernel_breaks(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["gap"] = _grown(c["gap"], between(level, 0.035, 0.3) / world.gap, w)


def adapter_unsent(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """The engine goes on with the base model: the further the policy goes, the further they are apart."""
    away = 1 - np.exp(-np.cumsum(w > 0) / 40.0)
    c["gap"] = _grown(c["gap"], between(level, 0.05, 0.15) / world.gap, away)
    c["deaf"] = np.maximum(c["deaf"], w)


def queue_old(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["age"] = c["age"] * (1 - w) + between(level, 4.0, 9.0) * w
    c["gap"] = _grown(c["gap"], between(level, 1.8, 5.0), w)
    c["harm"] = c["harm"] + between(level, 0.02, 0.06) * w


def routing_differs(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["gap"] = _grown(c["gap"], between(level, 5, 20), w)


def empty_answers(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["truth"] = c["truth"] * (1 - between(level, 0.06, 0.6) * w)
