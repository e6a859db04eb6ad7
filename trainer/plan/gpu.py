"""What a launch on GPUs is given for the card: number formats, attention, and sizes that fit its memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.estimate.engine import GIB
from klinic.diagnostics.estimate.fit import SHARE
from klinic.diagnostics.estimate.relief import fitted
from klinic.diagnostics.language import tr
from klinic.diagnostics.models import find_shape
from klinic.diagnostics.preflight.words import plural
from klinic.diagnostics.verlconfig.settings import ACTOR, MODEL, REF, ROLLOUT, TOKENS, Settings
from klinic.trainer.plan.draft import Draft

LEAST_SHARE, MOST_SEQUENCES = 0.5, 1024


def number_formats(d: Draft) -> None:
    """float16 and plain attention where the card has no bfloat16; of GPUs that are elsewhere nothing is known."""
    if d.cpu or not d.machine.gpus or d.machine.capable_of_bf16:
        return
    for key, (value, why) in without_bf16(_name(d), d.reference).items():
        d.fill(key, value, why)


def without_bf16(card: str, reference: bool) -> dict[str, tuple[Any, str]]:
    """What a launch needs on a card without bfloat16: key -> value and why. reference: it has a reference model."""
    precision = "fsdp_config.mixed_precision.param_dtype"
    scaled = tr("verl trains in bfloat16 otherwise; it scales the loss for float16")
    return {
        f"{ROLLOUT}.dtype": ("float16", tr("{} has no bfloat16", card)),
        f"+{MODEL}.override_config.attn_implementation": ("sdpa", tr("no flash-attn on {}", card)),
        f"{MODEL}.use_remove_padding": (False, tr("packed sequences need flash-attn")),
        f"+{ACTOR}.{precision}": ("fp16", scaled),
        **({f"+{REF}.{precision}": ("fp16", tr("as the actor"))} if reference else {}),
    }


def plain_attention(d: Draft) -> None:
    """PyTorch's attention where flash-attn is not installed: verl asks for flash_attention_2 and packs sequences."""
    if d.cpu or not d.machine.gpus or d.machine.flash_attn:
        return
    for model in (MODEL, *(("critic.model",) if d.critic else ())):
        d.fill(f"+{model}.override_config.attn_implementation", "sdpa", tr("flash-attn is not installed here"))
        d.fill(f"{model}.use_remove_padding", False, tr("packed sequences need flash-attn"))


def lengths(d: Draft) -> None:
    """How long a sequence of the engine may get."""
    if d.cpu:
        return
    longest = d.number("data.max_prompt_length", 512) + d.number("data.max_response_length", 512)
    shape = find_shape(d[f"{MODEL}.path"])
    if shape is not None and (shape.positions or longest) >= longest:
        d.fill(f"{ROLLOUT}.max_model_len", longest, tr("prompt and response; the cache must hold one sequence of this"))


def tensor_parallel(d: Draft) -> None:
    """The smallest power of two of GPUs whose engine share holds the weights with as much again for the cache."""
    key = f"{ROLLOUT}.tensor_model_parallel_size"
    shape = find_shape(d[f"{MODEL}.path"])
    if shape is None:
        d.fill(key, 1, tr("one GPU a replica; the model's size could not be read from its config"))
        return
    gpus = d.number("trainer.n_gpus_per_node", max(1, len(d.machine.gpus)))
    share = LEAST_SHARE * (d.machine.gpu_memory_gb or 80) * GIB
    wanted = 2 ** math.ceil(math.log2(max(1.0, 4 * shape.weights / share)))
    size = max((k for k in _powers(wanted) if gpus % k == 0 and shape.heads % k == 0), default=1)
    d.fill(key, size, tr("{:.2g} billion weights fit into half of {}", shape.weights / 1e9, plural(size, "GPU")))


def _powers(most: int) -> Iterator[int]:
    yield from (2**k for k in range(most.bit_length()) if 2**k <= most)


def memory(d: Draft) -> None:
    """Micro batches, the engine's share, offloading as the estimate says; plain values where nothing is known."""
    if d.cpu:
        return
    card = d.machine.card
    found = fitted(d.settings, card, lambda key: not d.given(key)) if card is not None and _dynamic(d) else None
    for one in found.values if found else ():
        d.fill(one.key, one.value, one.reason)
    if found is not None:
        _concurrency(d)
    if _dynamic(d):
        longest = d.number("data.max_prompt_length", 512) + d.number("data.max_response_length", 512)
        d.fill(TOKENS, max(2 * longest, 8192), tr("twice the longest sequence ({}), at least 8192", longest))
    d.fill(SHARE, 0.5, tr("half for vLLM, half for training in the same GPUs"))


def _dynamic(d: Draft) -> bool:
    return bool(d[f"{ACTOR}.use_dynamic_bsz"])


def _concurrency(d: Draft) -> None:
    """More sequences at once than vLLM's 256 where a GPU has more to do and the cache holds them."""
    from klinic.diagnostics.estimate import estimate

    card = d.machine.card
    of = estimate(Settings(d.settings.written | {f"{ROLLOUT}.max_num_seqs": MOST_SEQUENCES}), card) if card else None
    if of is None:
        return
    responses = d.number("data.train_batch_size", 1024) * d.number(f"{ROLLOUT}.n", 1)
    share = responses * of.engine.degree // of.layout.gpus
    held = min(of.engine.at_once(of.layout.lengths.longest), share)
    if held > 256:
        d.fill(
            f"{ROLLOUT}.max_num_seqs", held, tr("an engine gets {} responses a step, and its cache holds these", share)
        )


def _name(d: Draft) -> str:
    return d.machine.gpus[0]
