"""The estimate's formulas against what torch itself does: tensors kept for a backward pass, FSDP2's shards."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import pytest

from klinic.diagnostics.estimate import tokens
from klinic.diagnostics.models.shape import Shape, shape_of

pytestmark = pytest.mark.slow  # models of five kinds, built and run
torch: Any = None
transformers: Any = None


@pytest.fixture(autouse=True, scope="module")
def libraries() -> None:
    """Imported only where these tests run: every worker collects this file."""
    global torch, transformers
    torch = pytest.importorskip("torch", reason="what torch keeps is measured with torch")
    transformers = pytest.importorskip("transformers", reason="the models are those of transformers")


SMALL = {
    "hidden_size": 256, "intermediate_size": 1024, "num_hidden_layers": 3, "num_attention_heads": 8,
    "num_key_value_heads": 2, "vocab_size": 512, "max_position_embeddings": 2048,
}  # fmt: skip
MODELS: dict[str, dict[str, Any]] = {
    "qwen2": {},
    "llama": {},
    "mistral": {"sliding_window": None},
    "qwen3": {"head_dim": 64},
    "qwen3_moe": {"head_dim": 64, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128},
}
TOKENS, LAYER = 512, 1


class _Part:
    """What `tokens` reads of a part: packed rows in bfloat16, kept as flash attention keeps them."""

    compute, attention, longest, checkpointing = 2, "flash_attention_2", TOKENS, False

    def __init__(self, shape: Shape) -> None:
        self.shape = shape


class _Vector(_Part):
    """A padded batch whose log-probabilities are taken of all tokens at once."""

    cross_entropy, head = "vector", True
    packed = fused = chunked = scaled = entropy_update = False


def kept_by_torch(config: Any) -> float:
    """Bytes a token that autograd keeps of one layer: one packed row of `TOKENS` tokens, bfloat16 under autocast."""
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").to(torch.bfloat16)
    own = {one.untyped_storage().data_ptr() for one in (*model.parameters(), *model.buffers())}
    kept: dict[int, Any] = {}
    inside = [False]

    def pack(tensor: Any) -> Any:
        place = tensor.untyped_storage().data_ptr()
        if inside[0] and place not in own:
            kept[place] = tensor  # held, so that its place is not given to another
        return tensor

    layer = model.model.layers[LAYER]
    layer.register_forward_pre_hook(lambda *_: inside.__setitem__(0, True))
    layer.register_forward_hook(lambda *_: inside.__setitem__(0, False))
    ids = torch.arange(TOKENS)[None] % config.vocab_size
    hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
    with hooks, torch.autocast("cpu", dtype=torch.bfloat16):
        model.train()(input_ids=ids, position_ids=torch.arange(TOKENS)[None], use_cache=False)
    return sum(one.untyped_storage().nbytes() for one in kept.values()) / TOKENS


@pytest.mark.parametrize("kind", MODELS)
def test_a_layer_of_a_packed_batch_keeps_what_torch_keeps(kind: str) -> None:
    """Within 3 %, and never more: the turns of the positions, roots of norms and routing are left out."""
    config = transformers.AutoConfig.for_model(kind, **SMALL, **MODELS[kind])
    reckoned, kept = tokens.kept_by_layer(_Part(shape_of(config.to_dict()))), kept_by_torch(config)
    assert 0.97 * kept <= reckoned <= kept


def highest(profile: Any) -> int:
    """Bytes that were alive at once, of all that was allocated while the profile ran."""
    events = [one for one in profile.profiler.kineto_results.events() if one.name() == "[memory]"]
    events.sort(key=lambda one: one.start_ns())
    return max(itertools.accumulate(int(one.nbytes()) for one in events))


def test_log_probs_without_flash_attn_take_what_torch_takes_for_their_gradient() -> None:
    """The logits included; what has one number a token is small beside them."""
    from klinic.trainer.plugin import flashless

    functional = ModuleType("torch_functional")
    functional.logprobs_from_logits_v2 = lambda logits, labels: None  # type: ignore[attr-defined]
    flashless.log_probs(functional)
    part = _Vector(shape_of({**SMALL, "model_type": "qwen2"}))
    logits = torch.randn(TOKENS, part.shape.vocab, dtype=torch.bfloat16, requires_grad=True)
    with torch.profiler.profile(profile_memory=True) as profile:
        functional.logprobs_from_logits_v2(logits, torch.zeros(TOKENS, dtype=torch.long)).sum().backward()
    assert tokens.logits(part, TOKENS, training=True) == pytest.approx(logits.nbytes + highest(profile), rel=0.02)


@pytest.fixture
def ranks(request: pytest.FixtureRequest) -> Any:
    """A mesh of so many processes that are not there: torch's stand-in for a process group."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=request.param - 1, world_size=request.param)
    yield init_device_mesh("cpu", (request.param,), mesh_dim_names=("fsdp",))
    dist.destroy_process_group()


@pytest.mark.parametrize("ranks", [2, 8, 64], indirect=True)
@pytest.mark.parametrize("name", ["Qwen/Qwen2.5-0.5B", "Qwen/Qwen2.5-7B", "Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B"])
def test_a_shard_is_what_fsdp2_makes(ranks: Any, name: str) -> None:
    """Sharded as verl does by apply_fsdp2: each layer by itself, then the rest; the last rank with its padding."""
    from torch.distributed.fsdp import fully_shard

    from klinic.diagnostics.models import find_shape

    shape = find_shape(name)
    assert shape is not None
    model = _on_no_device(name, shape)
    for layer in model.model.layers:
        fully_shard(layer, mesh=ranks)
    fully_shard(model, mesh=ranks)
    shard = sum(one.to_local().numel() for one in model.parameters())
    assert shard == pytest.approx(shape.weights / ranks.size(), rel=0.001)


def _on_no_device(name: str, shape: Shape) -> Any:
    """A model of this shape without memory, from the same numbers as the estimate's."""
    kind = "llama" if "Llama" in name else "qwen3" if "Qwen3" in name else "qwen2"
    config = transformers.AutoConfig.for_model(
        kind, hidden_size=shape.hidden, intermediate_size=shape.feed_forward, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads, head_dim=shape.head_dim,
        vocab_size=shape.vocab, tie_word_embeddings=shape.tied,
    )  # fmt: skip
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
