"""The largest settings that still fit a card, found with the estimate itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from klinic.diagnostics.estimate.estimate import USABLE, Estimate, estimate
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import ACTOR, DYNAMIC, MICRO, REF, ROLLOUT, TOKENS

SHARE = f"{ROLLOUT}.gpu_memory_utilization"
CRITIC = ("critic.ppo_max_token_len_per_gpu", "critic.forward_max_token_len_per_gpu")
GRAIN, MOST = 256, 1 << 20  # tokens of a budget


@dataclass(frozen=True)
class Largest:
    """What fits. budget: tokens of a micro batch under use_dynamic_bsz; sequences: else; share: of the engine.

    at_once: sequences at the cap's length that an engine runs with that share; 0 where nothing fits.
    """

    budget: int
    sequences: int
    share: float
    at_once: int


def largest(of: Estimate) -> Largest:
    """The largest micro batch and engine share, all else as it is; a GPU's part of the batch is no cap."""
    settings = of.layout.settings
    longest = of.layout.lengths.longest
    huge = {"data.train_batch_size": 1 << 20, f"{ACTOR}.ppo_mini_batch_size": 1 << 20}

    def trains(values: Mapping[str, Any]) -> bool:
        found = estimate(Settings(_merged(settings, huge | dict(values))), of.gpu)
        return found is not None and not any(phase.name in ("update", "log-prob") for phase in found.crowded)

    budget = _most(lambda k: trains(_budget(k * GRAIN)), MOST // GRAIN) * GRAIN
    sequences = _most(lambda k: trains(_sequences(k)), max(1, MOST // longest))
    share = share_left(of)
    with_share = estimate(Settings(_merged(settings, {SHARE: share})), of.gpu) if share else None
    return Largest(budget, sequences, share, with_share.engine.at_once(longest) if with_share else 0)


def _budget(tokens: int) -> dict[str, Any]:
    """The same budget for all passes of actor, reference and critic."""
    found: dict[str, Any] = {DYNAMIC: True, TOKENS: tokens, "critic.use_dynamic_bsz": True}
    for part in (ROLLOUT, REF):
        found |= {f"{part}.log_prob_use_dynamic_bsz": True, f"{part}.log_prob_max_token_len_per_gpu": tokens}
    return found | dict.fromkeys(CRITIC, tokens)


def _sequences(count: int) -> dict[str, Any]:
    found: dict[str, Any] = {DYNAMIC: False, MICRO: count, "critic.use_dynamic_bsz": False}
    for part in (ROLLOUT, REF):
        found |= {f"{part}.log_prob_use_dynamic_bsz": False, f"{part}.log_prob_micro_batch_size_per_gpu": count}
    return found | {"critic.ppo_micro_batch_size_per_gpu": count, "critic.forward_micro_batch_size_per_gpu": count}


def share_left(of: Estimate) -> float:
    """The part of the card that the engine may take, in hundredths: what states and contexts leave of it."""
    rollout = of.phase("rollout")
    engines = ("engine's weights", "engine's activations", "KV cache")
    beside = sum(value for name, value in rollout.parts.items() if name not in engines)
    return max(0, math.floor(100 * (USABLE - beside / of.memory))) / 100


def _merged(settings: Settings, values: Mapping[str, Any]) -> dict[str, Any]:
    return settings.written | dict(values)


def _most(fits: Callable[[int], bool], limit: int) -> int:
    """The largest of 1..limit that fits, 0 where none does; fits is monotone."""
    if not fits(1):
        return 0
    low, high = 1, 2
    while high <= limit and fits(high):
        low, high = high, 2 * high
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
