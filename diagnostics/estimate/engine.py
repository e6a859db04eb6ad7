"""What the rollout engine takes of one GPU: its weights, its own activations, and the KV cache in what is left."""

from __future__ import annotations

from dataclasses import dataclass

from klinic.diagnostics.estimate.layout import BYTES, Layout
from klinic.diagnostics.estimate.states import FLOAT
from klinic.diagnostics.verlconfig.settings import ROLLOUT

GIB = 2**30
# Taken, not measured here: a CUDA context with its libraries; CUDA graphs of an engine.
CONTEXT, GRAPHS = 0.6 * GIB, 0.8 * GIB


@dataclass(frozen=True)
class Engine:
    """One GPU of an engine. pool: bytes of the KV cache; token: bytes of KV a token; longest: max_model_len."""

    degree: int
    weights: float
    activations: float
    pool: float
    token: float
    longest: int
    cap: int
    graphs: float

    @property
    def tokens(self) -> float:
        """Tokens that the KV cache holds."""
        return self.pool / self.token

    def at_once(self, length: float) -> int:
        """Sequences of this length that run at once: what the cache holds, at most `max_num_seqs`."""
        return max(0, min(self.cap, int(self.tokens / length)))


def engine(of: Layout, memory: float) -> Engine:
    """The engine on a card of `memory` bytes."""
    s, shape = of.settings, of.shape
    degree = s.whole(f"{ROLLOUT}.tensor_model_parallel_size") or 1
    number = BYTES.get(str(s[f"{ROLLOUT}.dtype"]), 2)
    weights = number * shape.weights / degree
    batched = s.whole(f"{ROLLOUT}.max_num_batched_tokens") or 8192
    cap = s.whole(f"{ROLLOUT}.max_num_seqs") or 256
    layers = batched * number * (3 * shape.hidden + 3 * shape.wide / degree)
    sampling = min(cap, batched) * shape.vocab * (number + 2 * FLOAT)
    activations = max(layers, sampling)
    budget = s.number(f"{ROLLOUT}.gpu_memory_utilization") or 0.5
    fixed = s.number(f"{ROLLOUT}.engine_kwargs.vllm.kv_cache_memory_bytes")
    pool = budget * memory - weights - activations - CONTEXT if fixed is None else fixed
    heads = max(1.0, shape.kv_heads / degree)
    return Engine(
        degree,
        weights,
        activations,
        max(0.0, pool),
        2 * shape.layers * heads * shape.head_dim * number,
        s.whole(f"{ROLLOUT}.max_model_len") or shape.positions or of.lengths.longest,
        cap,
        0.0 if s.flag(f"{ROLLOUT}.enforce_eager") else GRAPHS,
    )
