"""Seconds of a step by phase, as a range: decoding is bound by memory bandwidth, training by arithmetic.

The ends of the ranges are shares of what the card's data sheet promises, from general experience and not measured
here: reads at 40 to 80 % of the bandwidth, a decode step's own cost of 1 to 8 ms (20 ms without CUDA graphs), model
FLOPs utilisation of 30 to 50 % from 7 billion weights on, 10 to 30 % below 2 billion, 20 to 40 % between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from klinic.diagnostics.estimate.engine import Engine
from klinic.diagnostics.estimate.estimate import Estimate
from klinic.diagnostics.estimate.layout import Part
from klinic.diagnostics.verlconfig.settings import ACTOR, ROLLOUT

READS = (0.8, 0.4)
STEP, EAGER = (0.001, 0.008), (0.003, 0.020)
PREFILL = (0.5, 0.2)


@dataclass(frozen=True)
class Span:
    """Seconds: at best, at worst."""

    best: float
    worst: float

    def __add__(self, other: Span) -> Span:
        return Span(self.best + other.best, self.worst + other.worst)


def utilisation(weights: float) -> tuple[float, float]:
    """Share of the card's arithmetic that training uses: at best, at worst."""
    if weights >= 7e9:
        return 0.5, 0.3
    return (0.4, 0.2) if weights >= 2e9 else (0.3, 0.1)


def seconds(of: Estimate) -> dict[str, Span]:
    """Seconds of each phase of a step; a response's mean is a quarter of the cap at best, all of it at worst."""
    s = of.layout.settings
    cap = s.whole("data.max_response_length") or 512
    prompt = of.layout.lengths.longest - cap if of.layout.lengths.longest > cap else cap
    short, long = cap / 4, cap
    count = s.responses
    best, worst = (count * (prompt * part + tokens) for part, tokens in ((0.5, short), (1.0, long)))
    found = {"generation": _generation(of, count, prompt, short, long)}
    found["old log-probs"] = _pass(of, of.layout.actor, best, worst, 2)
    if of.layout.reference is not None:
        found["reference"] = _pass(of, of.layout.reference, best, worst, 2)
    if of.layout.critic is not None:
        found["values"] = _pass(of, of.layout.critic, best, worst, 2)
        found["critic's update"] = _update(of, of.layout.critic, best, worst, "critic.ppo_epochs")
    found["actor's update"] = _update(of, of.layout.actor, best, worst, f"{ACTOR}.ppo_epochs")
    return found


def _generation(of: Estimate, count: int, prompt: float, short: float, long: float) -> Span:
    """Each engine decodes its responses in waves of what its cache holds; the longest response ends a wave."""
    engine, gpu = of.engine, of.gpu
    engines = max(1, of.layout.gpus // engine.degree)
    share = math.ceil(count / engines)
    own = EAGER if of.layout.settings.flag(f"{ROLLOUT}.enforce_eager") else STEP
    ends = []
    for index, tokens in enumerate((short, long)):
        length = prompt + tokens / 2
        together = max(1, min(share, engine.at_once(prompt + tokens)))
        read = engine.weights + together * engine.token * length
        one = own[index] + max(read / (READS[index] * gpu.bandwidth_gbs * 1e9), _decode(of, engine, together, index))
        prefill = 2 * of.layout.shape.multiplied * share * prompt / (engine.degree * PREFILL[index] * gpu.tflops * 1e12)
        ends.append(prefill + math.ceil(share / together) * tokens * one)
    return Span(*ends)


def _decode(of: Estimate, engine: Engine, together: int, index: int) -> float:
    flops = 2 * of.layout.shape.multiplied * together
    return flops / (engine.degree * PREFILL[index] * of.gpu.tflops * 1e12)


def _pass(of: Estimate, part: Part, best: float, worst: float, per_weight: float) -> Span:
    fast, slow = utilisation(part.weights)
    each = per_weight * part.shape.multiplied / (of.layout.gpus * of.gpu.tflops * 1e12)
    return Span(best * each / fast, worst * each / slow)


def _update(of: Estimate, part: Part, best: float, worst: float, epochs: str) -> Span:
    """Forward and twice as much backward; recomputation adds a forward pass, adapters spare the weights' gradients."""
    per_weight = (4 if part.frozen else 6) + (2 if part.checkpointing else 0)
    times = of.layout.settings.whole(epochs) or 1
    return _pass(of, part, times * best, times * worst, per_weight)
