"""A run lived step by step: causes act on a policy, and what it earns acts on it in turn.

The policy is a skill (log-odds of a right answer), an entropy, a distance to the reference and a length. One step moves
it by the size of the update; too large a step costs skill, no mixed group means no step, answers at the cap are wrong,
low entropy ends learning, an engine that samples from another policy wears the skill down. A fault changes a cause.
"""

from dataclasses import dataclass
from math import erf, exp, log, sqrt

import numpy as np

from ..carriers import Columns
from .world import World

SIGMA = 0.45  # of the logarithm of lengths within a batch
HORIZON = 60.0  # steps in which the distance to the reference settles
CAUSES = {  # in health
    "rate": 1.0,  # learning rate, of the usual
    "epochs": 1.0,  # passes over a batch
    "clip": 0.2,  # clip range
    "pull": 1.0,  # coefficient of the reference KL, of the usual
    "loose": 0.0,  # drift away from the reference that learns nothing, nats a step
    "bonus": 0.0,  # rise of entropy a step, in logarithms
    "sharpen": 0.0,  # fall of entropy a step, in logarithms
    "heat": 1.0,  # sampling temperature
    "truth": 1.0,  # share of right answers that the grader sees
    "floor": 0.0,  # paid to every answer
    "gamed": 0.0,  # share of what is not earned yet that is gamed in a step
    "memory": 0.0,  # share of the problems learned by heart in a step
    "hard": 0.0,  # difficulty of the data, log-odds
    "unlike": 0.0,  # difficulty of validation alone
    "deaf": 0.0,  # share of what could be learned that is not
    "longer": 0.0,  # length asked for, in logarithms above the usual
    "wordy": 0.0,  # growth of answers a step, in logarithms
    "noise": 1.0,  # gradient, of the usual
    "gap": 1.0,  # engine against trainer, of the usual
    "age": 1.0,  # staleness, of the usual
    "harm": 0.0,  # skill lost in a step
    "vrate": 1.0,  # the critic's rate, of the usual
    "blind": 0.0,  # values that lie beside their answers, share of the returns' variance
}
TRACES = ("right", "earned", "valid", "entropy", "drift", "length", "cut", "info", "step", "ratio", "clipped", "gap")
TRACES += ("value", "wild", "fit", "progress", "pull")


def causes(steps: int) -> Columns:
    """Every cause as it is in health."""
    return {name: np.full(steps, level) for name, level in CAUSES.items()}


@dataclass
class Policy:
    """Where the policy and its critic are."""

    skill: float
    entropy: float
    length: float
    drift: float = 1e-5
    gamed: float = 0.0
    heart: float = 0.0
    gap: float = 0.0
    value: float = 0.0
    wild: float = 0.0
    taught: float = 0.0


def odds(share: float) -> float:
    """Log-odds."""
    return log(share / (1 - share))


def share(skill: float) -> float:
    """The share with these log-odds."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, skill))))


def lived(world: World, acting: Columns, rng: np.random.Generator) -> Columns:
    """What a run comes to under its causes: one value a step of each of TRACES."""
    steps = len(acting["rate"])
    policy = Policy(odds(world.score[0]), log(world.entropy[0]), log(world.length[0]), gap=world.gap)
    seen = {name: np.zeros(steps) for name in TRACES}
    for i in range(steps):
        now = {name: float(values[i]) for name, values in acting.items()}
        for name, value in _step(world, policy, now, rng).items():
            seen[name][i] = value
    return seen


def _step(world: World, p: Policy, now: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
    length = min(p.length + now["longer"], log(1.4 * world.cap))
    cut = 0.5 * (1 - erf((log(world.cap) - length) / SIGMA / sqrt(2)))
    right = share(p.skill - now["hard"] - 3.0 * max(0.0, now["heat"] - 1)) * (1 - cut)
    gained = p.gamed + p.heart - p.gamed * p.heart
    earned = min(1.0, now["floor"] + now["truth"] * (right + (1 - right) * gained))
    group = max(world.group, 8)
    info = 0.0 if now["truth"] == 0 else 1 - earned**group - (1 - earned) ** group
    size = now["rate"] * now["epochs"]
    ratio = 0.02 * now["rate"] ** 0.7 * now["epochs"] ** 0.9 * (1 + 0.3 * now["age"] * world.age) + 1.2 * max(
        0.0, p.gap - 2 * world.gap
    )
    tail = 0.5 * (1 - erf(now["clip"] / max(ratio, 1e-9) / sqrt(2)))
    seen = {"right": right, "earned": earned, "cut": cut, "info": info, "step": size, "ratio": ratio, "gap": p.gap}
    seen |= {"clipped": world.clip * min(1.0, size * 20) + tail, "entropy": exp(p.entropy), "length": exp(length)}
    seen |= {"drift": p.drift, "valid": share(p.skill - now["unlike"] - 1.8 * p.heart + 0.08) * (1 - cut)}
    seen |= {"value": p.value, "wild": p.wild, "fit": p.taught, "progress": _progress(world, p), "pull": now["pull"]}
    _learn(world, p, now, min(1.0, info / 0.5), size, rng)
    _judge(world, p, now, earned, rng)
    return seen


def _progress(world: World, p: Policy) -> float:
    start, end = odds(world.score[0]), odds(world.score[1])
    return min(1.2, max(0.0, (p.skill - start) / (end - start)))


def _learn(world: World, p: Policy, now: dict[str, float], info: float, size: float, rng: np.random.Generator) -> None:
    """One update of the policy. info: share of the usual signal, size: of the usual step."""
    start = world.entropy[0]
    explores = min(1.0, exp(p.entropy) / (0.2 * min(world.entropy)))
    torn = 0.02 * max(0.0, log(max(size, 1e-9) / 8)) ** 1.5 * (info > 0)
    lost = torn + now["harm"] + 2.0 * now["gamed"] + 1.2 * max(0.0, p.gap - 0.015)
    lost += 0.03 * max(0.0, exp(p.entropy) / start - 1.8) + 0.02 * min(1.5, p.wild) + 0.03 * min(2.0, now["blind"])
    held = 1 + 0.08 * max(0.0, now["pull"] - 1)
    heard = min(size, 2.0) * info * explores * (1 - now["deaf"])
    p.skill += (odds(world.score[1]) - p.skill) * heard / world.tau / held - lost
    p.skill += 0.004 * float(rng.normal()) * min(1.0, size)
    at = _progress(world, p)
    moved = 0.08 * min(size, 3.0) * (info > 0)
    wanted = log(start) + at * log(world.entropy[1] / start)
    p.entropy += moved * (wanted - p.entropy) + now["bonus"] - now["sharpen"] - 0.5 * torn
    p.entropy = min(p.entropy, log(9.0))
    if not now["sharpen"] and not now["bonus"]:
        p.entropy = max(p.entropy, log(0.02))
    wanted = log(world.length[0]) + at * log(world.length[1] / world.length[0])
    p.length += moved * (now["wordy"] == 0) * (wanted - p.length) + now["wordy"]
    p.length = max(log(4.0), min(p.length, log(1.4 * world.cap)))
    random = max(0.0, exp(p.entropy) / start - 1.8)
    pushed = world.drift * min(size, 40.0) * info + 60 * now["loose"] + 90 * torn + 40 * now["gamed"] + 0.5 * random
    rate = min(1.0, size) / HORIZON
    p.drift = (p.drift + rate * pushed) / (1 + rate * now["pull"])
    p.gamed += now["gamed"] * (1 - p.gamed)
    p.heart += now["memory"] * (1 - p.heart)
    p.gap += 0.5 * (world.gap * now["gap"] - p.gap)


def _judge(world: World, p: Policy, now: dict[str, float], earned: float, rng: np.random.Generator) -> None:
    """One update of the critic: a rate far too high flings it away."""
    if now["vrate"] > 15:
        p.wild = min(6.0, (p.wild + 0.08) * (1 + 0.04 * log(now["vrate"])))
        p.value += p.wild * 0.3 * float(rng.normal())
    else:
        p.wild *= 0.8
        p.value += min(0.6, 0.16 * now["vrate"]) * (earned - p.value)
    p.taught += min(0.2, 0.04 * now["vrate"]) * (0.62 - p.taught)
