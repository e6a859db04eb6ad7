"""A fault of the fourth paper: where it can be, and what a log must hold to show it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .host import Host
from .worlds import CRITICS

Inject = Callable[[Host, np.ndarray, float, np.random.Generator], None]
LLM = ("math", "dapo", "points", "agent", "rm", "gsm8k")
SMALL = ("cpu-4", "cpu-5", "gpu-kl", "gpu-cap", "ppo-cpu-4", "grpo-gpu-1", "ppo-gpu-1")
ANY = LLM + SMALL
MANY = tuple(name for name in ANY if name not in ("gpu-kl", "gpu-cap"))  # of more than twenty steps
SAME_SCALE = ("math", "gsm8k", "agent")  # validations measure what the reward measures
VALIDATED = ("math", "dapo", "points", "gsm8k", "agent")


class Placed(Protocol):
    """What says where in a run a fault may begin."""

    onsets: str
    drifts: bool
    before: int
    lasts: int
    recovers: bool
    shows: tuple[str, ...]


@dataclass(frozen=True)
class Fault:
    """What can be injected.

    hosts: healthy runs that can have it; shows: the metrics without which a log cannot show it, all of them; onsets:
    start, soon, middle, late; drifts: it may come slowly; before: steps that a relative measure needs of health;
    lasts: steps it needs to be seen; coarse: three decimals show it; told: only a config beside the log tells;
    only: the dialects in which it can be met; recovers: it may go back by half; lag: steps until it can be seen.
    """

    name: str
    inject: Inject
    hosts: tuple[str, ...] = ANY
    shows: tuple[str, ...] = ()
    onsets: str = "soon middle late"
    drifts: bool = False
    before: int = 0
    lasts: int = 10
    coarse: bool = True
    told: bool = False
    only: tuple[str, ...] = ()
    recovers: bool = False
    lag: int = 0


SCORE, VAL, GRAD = "critic/score/mean", "val-core/", "actor/grad_norm"
ENTROPY, UPDATE, KL = "actor/entropy", "actor/ppo_kl", "actor/kl_loss|actor/reward_kl_penalty"
LENGTH, GEN, STEP = "response_length/mean", "timing_s/gen", "timing_s/step"
PULLED = ("math", "points", "agent", "rm", "rloo")
BOUNDS = ("critic/score/max", "critic/score/min")
ASYNC = ("async",)
FILTERED = ("training/filter_groups/evicted_samples",)
EVICTED = ("training/off_policy/evicted_samples",)
AGE = ("training/off_policy/trajectory_staleness/mean",)
FAILED = ("training/rollout_failure/evicted_samples",)
CONSOLES = ("old-console", "np-console")
STEPPED = ("jsonl", "slim", "old-console", "np-console")
VALUES = (*CRITICS, "cpu-4", "ppo-cpu-5", "gpu-cap")
