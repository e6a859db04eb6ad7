"""Batch arithmetic: prompts per rollout batch, prompts per mini batch, optimiser updates per rollout batch."""

from __future__ import annotations

from collections.abc import Callable

from klinic.diagnostics.verlconfig.casts import whole

Number = Callable[[str], float | None]
# Responses of one optimiser update.
GLOBAL = {"slime": "global_batch_size", "nemo_rl": "policy.train_global_batch_size"}


def prompts_per_batch(speech: str, number: Number, configured: float | None, n: float | None) -> float | None:
    """Prompts of one rollout batch."""
    if speech == "openrlhf":
        return number("rollout_batch_size")
    if speech in ("", "verl", *GLOBAL):
        return configured
    responses = number("generation_batch_size") or _product(
        number("per_device_train_batch_size"), number("world_size"), _generation_steps(number)
    )
    return _ratio(responses, n)


def mini_batch_prompts(speech: str, number: Number, configured: float | None, n: float | None) -> float | None:
    """Prompts of one optimiser update. Every verl release with rollout.n multiplies the mini batch by it."""
    if speech == "openrlhf":
        return _ratio(number("train_batch_size"), n)
    if speech in GLOBAL:
        return _ratio(number(GLOBAL[speech]), n)
    if speech in ("", "verl"):
        return configured
    responses = _product(
        number("per_device_train_batch_size"), number("world_size"), number("gradient_accumulation_steps") or 1
    )
    return _ratio(responses, n)


def updates_per_batch(
    speech: str, number: Number, batch: float | None, mini: float | None, epochs: float | None
) -> float | None:
    """Updates per rollout batch: batch / mini * epochs, never less than one an epoch (verl pads a short batch)."""
    passes = epochs or 1
    if speech in ("", "verl", "openrlhf", *GLOBAL):
        share = _ratio(batch, mini)
    elif number("per_device_train_batch_size") is None and epochs is None:
        return None
    else:
        share = _ratio(_generation_steps(number), number("gradient_accumulation_steps") or 1)
    return None if share is None or passes < 0 else max(share, 1.0) * passes


def warmup_steps(number: Number, configured: float | None, total: float | None) -> int | None:
    """Learning rate warm-up in steps; verl's -1 means a share of all steps, by default none."""
    if configured is None or configured >= 0:
        return None if configured is None else int(configured)
    ratio = number("actor_rollout_ref.actor.optim.lr_warmup_steps_ratio") or 0.0
    if ratio == 0:
        return 0
    return None if total is None else whole(ratio * total // 1)


def total_steps(rows: float | None, batch: float | None, epochs: float | None) -> int | None:
    """Steps of a whole training where only the data set's size is known; the last partial batch is dropped."""
    if not rows or not batch or not epochs:
        return None
    return whole(rows // batch * int(epochs)) or None


def _generation_steps(number: Number) -> float:
    """TRL generates for `steps_per_generation` micro steps at once, by default for one optimiser update."""
    return number("steps_per_generation") or number("gradient_accumulation_steps") or 1.0


def _product(*factors: float | None) -> float | None:
    product = 1.0
    for factor in factors:
        if factor is None:
            return None
        product *= factor
    return product


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None
