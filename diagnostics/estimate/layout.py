"""What a launch means for memory: each model of the trainer, how it is cut, and how many tokens it sees at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from klinic.diagnostics.models import Shape, find_shape
from klinic.diagnostics.verlconfig.settings import ACTOR, MODEL, REF, ROLLOUT, Settings

BYTES = {"fp32": 4, "float32": 4, "float": 4, "bf16": 2, "bfloat16": 2, "fp16": 2, "float16": 2, "half": 2, "auto": 2}
FLASH = ("flash_attention_2", "flash_attention_3")


@dataclass(frozen=True)
class Lengths:
    """Tokens of a sequence, prompt and response: the longest, and the mean of those in a micro batch."""

    longest: int
    mean: float


@dataclass(frozen=True)
class Micro:
    """A micro batch on one GPU: its tokens (padding counted where it is kept), how many of them follow in a batch."""

    tokens: float
    count: int = 1


@dataclass(frozen=True)
class Part:
    """A model of the trainer on one GPU. shards: GPUs that share its weights; sp: sequence parallel degree.

    trained, frozen: weights with and without an optimiser; root: those outside the layers. stored, compute: bytes of a
    number at rest and in matrix products. head: it has a vocabulary; entropy_update: entropy is in the loss.
    """

    name: str
    shape: Shape
    trained: int
    frozen: int
    root: int
    fsdp2: bool
    shards: int
    sp: int
    stored: int
    compute: int
    offload_params: bool
    offload_optimizer: bool
    offload_policy: bool
    no_sync: bool
    checkpointing: bool
    packed: bool
    attention: str
    head: bool
    fused: bool
    compiled: bool
    chunked: bool
    cross_entropy: str
    scaled: bool
    entropy_update: bool
    longest: int
    update: Micro
    infer: Micro

    @property
    def weights(self) -> int:
        """All weights."""
        return self.trained + self.frozen


@dataclass(frozen=True)
class Layout:
    """A launch. gpus: of the trainer; per_node of a node; colocated: engine and trainer share GPUs."""

    settings: Settings
    shape: Shape
    gpus: int
    per_node: int
    actor: Part
    critic: Part | None
    reference: Part | None
    lengths: Lengths
    colocated: bool


def layout(settings: Settings, *, lengths: Lengths | None = None, cross_entropy: str = "") -> Layout | None:
    """What a launch means for memory; None where engine, model or batch sizes do not let it be told.

    lengths: of the sequences, else all are taken to be as long as the caps allow. cross_entropy: `flash` or `vector`,
    else what goes with the attention that is set: without flash-attn klinic's plugin takes them of all tokens at once.
    """
    shape = find_shape(settings[f"{MODEL}.path"])
    gpus, per_node = settings.n_gpus, settings.whole("trainer.n_gpus_per_node")
    if shape is None or not gpus or not per_node or not str(settings[f"{ACTOR}.strategy"]).startswith("fsdp"):
        return None
    longest = (settings.whole("data.max_prompt_length") or 512) + (settings.whole("data.max_response_length") or 512)
    sizes = lengths or Lengths(longest, longest)
    actor = _actor(settings, shape, gpus, sizes, cross_entropy)
    reference = None
    if settings.uses_reference and not settings.whole(f"{MODEL}.lora_rank"):
        reference = _reference(settings, actor, gpus, sizes)
    separate = settings["trainer.v1.trainer_mode"] == "separate_async"
    critic = _critic(settings, gpus, sizes) if settings.uses_critic else None
    if settings.uses_critic and critic is None:  # a part of the truth would be a number that is far too small
        return None
    return Layout(settings, shape, gpus, per_node, actor, critic, reference, sizes, not separate)


def _actor(s: Settings, shape: Shape, gpus: int, sizes: Lengths, cross_entropy: str) -> Part:
    rank = s.whole(f"{MODEL}.lora_rank") or 0
    entropy = s.flag(f"{ACTOR}.calculate_entropy") or bool(s.number(f"{ACTOR}.entropy_coeff"))
    attention = str(s[f"{MODEL}.override_config.attn_implementation"] or FLASH[0])
    degree = s.sequence_parallel(ACTOR)
    packed = s.flag(f"{MODEL}.use_remove_padding")
    mini = min(s.responses, (s.whole(f"{ACTOR}.ppo_mini_batch_size") or 256) * (s.whole(f"{ROLLOUT}.n") or 1))
    return Part(
        "actor",
        shape,
        shape.lora(rank) if rank else shape.weights,
        shape.weights if rank else 0,
        shape.root,
        **_engine(s, f"{ACTOR}.fsdp_config", ACTOR, gpus),
        sp=degree,
        checkpointing=s.flag(f"{MODEL}.enable_gradient_checkpointing"),
        packed=packed,
        attention=attention,
        head=True,
        fused=s.flag(f"{MODEL}.use_fused_kernels"),
        cross_entropy=cross_entropy or ("flash" if attention in FLASH else "vector"),
        scaled=s.number(f"{ROLLOUT}.temperature") != 1.0,
        entropy_update=entropy,
        longest=sizes.longest,
        update=_micro(s, f"{ACTOR}.ppo", f"{ACTOR}.use_dynamic_bsz", mini, gpus, degree, sizes, packed),
        infer=_micro(
            s, f"{ROLLOUT}.log_prob", f"{ROLLOUT}.log_prob_use_dynamic_bsz", s.responses, gpus, degree, sizes, packed
        ),
    )


def _reference(s: Settings, actor: Part, gpus: int, sizes: Lengths) -> Part:
    degree = s.sequence_parallel(REF)
    infer = _micro(
        s, f"{REF}.log_prob", f"{REF}.log_prob_use_dynamic_bsz", s.responses, gpus, degree, sizes, actor.packed
    )
    engine = _engine(s, f"{REF}.fsdp_config", REF, gpus) | {"offload_policy": True}
    return replace(actor, name="reference", trained=0, frozen=actor.shape.weights, infer=infer, sp=degree, **engine)


def _critic(s: Settings, gpus: int, sizes: Lengths) -> Part | None:
    shape = find_shape(s["critic.model.path"])
    if shape is None:
        return None
    degree = s.sequence_parallel("critic")
    packed = s.flag("critic.model.use_remove_padding")
    mini = min(s.responses, (s.whole("critic.ppo_mini_batch_size") or 256) * (s.whole(f"{ROLLOUT}.n") or 1))
    dynamic = "critic.use_dynamic_bsz"
    return Part(
        "critic",
        shape,
        shape.layers * shape.layer + shape.value_root,
        0,
        shape.value_root,
        **_engine(s, "critic.fsdp", "critic", gpus),
        sp=degree,
        checkpointing=s.flag("critic.model.enable_gradient_checkpointing"),
        packed=packed,
        attention=str(s["critic.model.override_config.attn_implementation"] or FLASH[0]),
        head=False,
        fused=False,
        cross_entropy="flash",
        scaled=False,
        entropy_update=False,
        longest=sizes.longest,
        update=_micro(s, "critic.ppo", dynamic, mini, gpus, degree, sizes, packed),
        infer=_micro(s, "critic.forward", dynamic, s.responses, gpus, degree, sizes, packed),
    )


def _engine(s: Settings, config: str, part: str, gpus: int) -> dict[str, Any]:
    """What verl's FSDP engine reads; `fsdp_config.dtype` is not among it."""
    size = s.whole(f"{config}.fsdp_size") or -1
    fsdp2 = s[f"{part}.strategy"] == "fsdp2"
    return {
        "fsdp2": fsdp2,
        "shards": size if 0 < size < gpus else gpus,
        "stored": BYTES.get(str(s[f"{config}.model_dtype"]), 4),
        "compute": BYTES.get(str(s[f"{config}.mixed_precision.param_dtype"] or "bf16"), 2),
        "offload_params": s.flag(f"{config}.param_offload"),
        "offload_optimizer": s.flag(f"{config}.optimizer_offload"),
        "offload_policy": fsdp2 and s.flag(f"{config}.offload_policy"),
        "no_sync": s.flag(f"{config}.use_no_sync_for_gradient_accumulation"),
        "compiled": s.flag(f"{config}.use_torch_compile"),
        "chunked": s.flag(f"{config}.entropy_from_logits_with_chunking"),
    }


def _micro(
    s: Settings, prefix: str, dynamic: str, responses: int, gpus: int, degree: int, sizes: Lengths, packed: bool
) -> Micro:
    """Tokens at once on a GPU: the budget or so many sequences, never more than the GPU's share of the batch."""
    share = max(1.0, responses * degree / gpus)
    length = sizes.mean if packed else sizes.longest
    if s.flag(dynamic):
        budget = (s.whole(f"{prefix}_max_token_len_per_gpu") or 16384) * degree
        rows = max(1.0, min(share, budget / sizes.mean))
        tokens = max(min(budget, share * sizes.mean), sizes.longest) if packed else rows * sizes.longest
    else:
        rows = min(share, s.whole(f"{prefix}_micro_batch_size_per_gpu") or _global(s, prefix, gpus))
        tokens = rows * length
    return Micro(tokens / degree, max(1, round(share / rows)))


def _global(s: Settings, prefix: str, gpus: int) -> int:
    return max(1, (s.whole(f"{prefix}_micro_batch_size") or gpus) // gpus)


def parts(of: Layout) -> Iterator[Part]:
    """The models of the trainer that hold an optimiser or weights on the GPU."""
    yield from (part for part in (of.actor, of.critic) if part is not None)
