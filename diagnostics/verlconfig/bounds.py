"""Ranges outside of which verl, torch or vLLM refuse a number."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from klinic.diagnostics.verlconfig.settings import ACTOR, ROLLOUT

_MUST: dict[str, tuple[Callable[[float, float], bool], str]] = {
    ">": (operator.gt, "above"),
    ">=": (operator.ge, "at least"),
    "<": (operator.lt, "below"),
    "<=": (operator.le, "at most"),
}
_COUNT = ((">=", 1),)
_SHARE = ((">", 0), ("<=", 1))

# Sources: torch.optim.AdamW (learning rate, weight decay), vLLM's SamplingParams and CacheConfig (temperature,
# top_p, memory share), verl's core_algos (clip_ratio_c), its LoRA check, torch's split (counts).
BOUNDS: dict[str, tuple[tuple[str, float], ...]] = {
    f"{ACTOR}.optim.lr": ((">=", 0),),
    "critic.optim.lr": ((">=", 0),),
    f"{ACTOR}.optim.weight_decay": ((">=", 0),),
    "critic.optim.weight_decay": ((">=", 0),),
    f"{ACTOR}.clip_ratio_c": ((">", 1),),
    f"{ROLLOUT}.temperature": ((">=", 0), ("<=", 2)),
    f"{ROLLOUT}.val_kwargs.temperature": ((">=", 0), ("<=", 2)),
    f"{ROLLOUT}.top_p": _SHARE,
    f"{ROLLOUT}.val_kwargs.top_p": _SHARE,
    f"{ROLLOUT}.gpu_memory_utilization": _SHARE,
    "actor_rollout_ref.model.lora_rank": (("<=", 512),),
    "data.train_batch_size": _COUNT,
    "data.max_prompt_length": _COUNT,
    "data.max_response_length": _COUNT,
    "trainer.n_gpus_per_node": _COUNT,
    "trainer.nnodes": _COUNT,
    "trainer.total_training_steps": _COUNT,
    "trainer.total_epochs": _COUNT,
    f"{ROLLOUT}.n": _COUNT,
    f"{ROLLOUT}.tensor_model_parallel_size": _COUNT,
    f"{ROLLOUT}.max_num_seqs": _COUNT,
    f"{ROLLOUT}.max_num_batched_tokens": _COUNT,
    f"{ACTOR}.ppo_mini_batch_size": _COUNT,
    f"{ACTOR}.ppo_micro_batch_size_per_gpu": _COUNT,
    f"{ACTOR}.ppo_epochs": _COUNT,
    f"{ACTOR}.ppo_max_token_len_per_gpu": _COUNT,
    "critic.ppo_mini_batch_size": _COUNT,
    "critic.ppo_micro_batch_size_per_gpu": _COUNT,
}


def out_of_bounds(key: str, value: Any) -> str | None:
    """A sentence where a number lies outside its range, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for op, bound in BOUNDS.get(key, ()):
        holds, words = _MUST[op]
        if not holds(value, bound):
            return f"{key} must be {words} {bound:g}, not {value:g}"
    return None
