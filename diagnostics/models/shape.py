"""A model's shape and how many weights it has, from its config alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shape:
    """A decoder as Llama, Qwen and Mistral build it; sizes in elements, as config.json names them.

    expert_size, experts, active: a mixture of experts; 0 for a dense model. positions: longest context, None unknown.
    """

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    feed_forward: int
    vocab: int
    tied: bool = False
    attention_bias: bool = False
    qk_norm: bool = False
    experts: int = 0
    active: int = 0
    expert_size: int = 0
    positions: int | None = None

    @property
    def q(self) -> int:
        """Width of all query heads together."""
        return self.heads * self.head_dim

    @property
    def kv(self) -> int:
        """Width of all key heads together; the values' is the same."""
        return self.kv_heads * self.head_dim

    @property
    def layer(self) -> int:
        """Weights of one layer."""
        attention = 2 * self.hidden * self.q + 2 * self.hidden * self.kv
        attention += self.q + 2 * self.kv if self.attention_bias else 0
        attention += 2 * self.head_dim if self.qk_norm else 0
        return attention + self._mlp(self.experts) + 2 * self.hidden

    def _mlp(self, experts: int) -> int:
        if not self.experts:
            return 3 * self.hidden * self.feed_forward
        return experts * 3 * self.hidden * self.expert_size + self.hidden * self.experts

    @property
    def embedding(self) -> int:
        """Weights of the table of tokens; an output head that is not tied has as many."""
        return self.vocab * self.hidden

    @property
    def root(self) -> int:
        """Weights outside the layers: embedding, output head, last norm."""
        return self.embedding * (1 if self.tied else 2) + self.hidden

    @property
    def weights(self) -> int:
        """All weights of the language model."""
        return self.layers * self.layer + self.root

    @property
    def value_root(self) -> int:
        """As `root` for a critic: a head of one value in place of the vocabulary."""
        return self.embedding + 2 * self.hidden + 1

    @property
    def multiplied(self) -> int:
        """Weights that a token is multiplied with: the active experts, the output head, not the table of tokens."""
        idle = (self.experts - self.active) * 3 * self.hidden * self.expert_size if self.experts else 0
        return self.layers * (self.layer - idle) + self.embedding

    @property
    def wide(self) -> int:
        """Width of the feed-forward part that a token passes through."""
        return self.active * self.expert_size if self.experts else self.feed_forward

    def lora(self, rank: int) -> int:
        """Weights of adapters of this rank on all linear layers of a dense model."""
        attention = 2 * (self.hidden + self.q) + 2 * (self.hidden + self.kv)
        return rank * self.layers * (attention + 3 * (self.hidden + self.feed_forward))


def shape_of(config: Mapping[str, Any]) -> Shape:
    """The shape that a config.json describes. Raises KeyError, ValueError, TypeError where it is of another kind."""
    text = config.get("text_config")
    config = text if isinstance(text, Mapping) else config
    if config.get("kv_lora_rank"):
        raise ValueError("latent attention is not reckoned")
    hidden, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
    kind = str(config.get("model_type", ""))
    experts = int(config.get("num_experts") or config.get("num_local_experts") or 0)
    return Shape(
        hidden=hidden,
        layers=int(config["num_hidden_layers"]),
        heads=heads,
        kv_heads=int(config.get("num_key_value_heads") or heads),
        head_dim=int(config.get("head_dim") or hidden // heads),
        feed_forward=int(config["intermediate_size"]),
        vocab=int(config["vocab_size"]),
        tied=bool(config.get("tie_word_embeddings", False)),
        attention_bias=bool(config.get("attention_bias", kind.startswith("qwen2"))),
        qk_norm=bool(config.get("qk_norm", kind.startswith("qwen3"))),
        experts=experts,
        active=int(config.get("num_experts_per_tok") or 0) if experts else 0,
        expert_size=int(config.get("moe_intermediate_size") or config["intermediate_size"]) if experts else 0,
        positions=config.get("max_position_embeddings"),
    )
