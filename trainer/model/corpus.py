"""The texts that the embedded model imitates: worked solutions by a pupil who is careless with some kinds.

What reinforcement learning then has to teach: the careful way of each kind, which the pupil takes too rarely.
"""

from __future__ import annotations

import random

from klinic.trainer.data.arithmetic import Problem, Step

# Share of solutions of a kind that make the usual mistake; over a half, the greedy answer is the wrong one.
CARELESS = {
    "get": 0.15,
    "take": 0.3,
    "fill": 0.6,
    "share": 0.45,
    "find": 0.7,
    "buy": 0.78,
    "give": 0.84,
    "more": 0.88,
    "times": 0.92,
}
SLIP = 0.03  # share of lines whose result is off by one
OPENINGS = ("", "", "So ", "Count: ", "We see ")
CLOSINGS = ("", "", "", "That is all. ", "It is done now. ")


def solution(problem: Problem, rng: random.Random) -> str:
    """A worked solution in the pupil's hand, ending in `#### number`, right or not."""
    careless = rng.random() < CARELESS[problem.kind]
    lines = [_line(step, rng) for step in (problem.mistake if careless else problem.steps)]
    answer = lines[-1].rpartition("=")[2]
    return f"{rng.choice(OPENINGS)}{'. '.join(lines)}. {rng.choice(CLOSINGS)}\n#### {answer}"


def _line(step: Step, rng: random.Random) -> str:
    if rng.random() >= SLIP:
        return str(step)
    return f"{step.left}{step.sign}{step.right}={step.result + rng.choice((-1, 1))}"
