"""Batch arithmetic in numbers: prompts, responses, mini and micro batches, updates, accumulation per GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.language import tr
from klinic.diagnostics.preflight.words import plural
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import ACTOR, DYNAMIC, MICRO, MINI, PROMPT, RESPONSE, SP, TOKENS, TRAIN, N


def batch_numbers(s: Settings) -> dict[str, Any]:
    """The numbers of one step; None where a setting does not say."""
    train, n, mini = s.whole(TRAIN), s.whole(N), s.whole(MINI)
    epochs, ranks = s.whole(f"{ACTOR}.ppo_epochs"), s.data_parallel
    micro = None if s.flag(DYNAMIC) else s.whole(MICRO)
    share = mini * n // ranks if mini and n and ranks and mini * n % ranks == 0 else None
    return {
        "prompts": train,
        "n": n,
        "responses": train * n if train and n else None,
        "mini_batch_prompts": mini,
        "mini_batch_responses": mini * n if mini and n else None,
        "updates": -(-train // mini) * epochs if train and mini and epochs else None,
        "ppo_epochs": epochs,
        "gpus": s.n_gpus,
        "data_parallel": ranks,
        "mini_batch_per_gpu": share,
        "micro_batch_per_gpu": micro,
        "accumulation": share // micro if share and micro and share % micro == 0 else None,
        "token_budget": s.whole(TOKENS) if s.flag(DYNAMIC) else None,
        "longest": (s.whole(PROMPT) or 0) + (s.whole(RESPONSE) or 0),
    }


def arithmetic(s: Settings) -> Iterator[str]:
    """The same in words, a line a fact."""
    x = batch_numbers(s)
    if x["responses"]:
        prompts, each = plural(x["prompts"], "prompt"), plural(x["n"], "response")
        yield tr("{} x {} = {} a step", prompts, each, plural(x["responses"], "response"))
    if x["updates"] and x["mini_batch_responses"]:
        prompts, all_ = plural(x["mini_batch_prompts"], "prompt"), plural(x["mini_batch_responses"], "response")
        yield tr("mini batch of {} = {}; U = {} a step", prompts, all_, plural(x["updates"], "update"))
    if x["mini_batch_per_gpu"]:
        share = plural(x["mini_batch_per_gpu"], "response")
        yield tr("{}: {} of a mini batch each{}", plural(x["gpus"], "GPU"), share, _micro(x, s))


def _micro(x: dict[str, Any], s: Settings) -> str:
    if x["accumulation"]:
        accumulated = plural(x["accumulation"], "micro batch")
        return tr(", in micro batches of {}: {} accumulated", x["micro_batch_per_gpu"], accumulated)
    if x["token_budget"] and x["longest"]:
        budget = x["token_budget"] * (s.whole(SP) or 1)
        return tr(", in micro batches of up to {} tokens ({} of the longest sequences)", budget, budget // x["longest"])
    return ""
