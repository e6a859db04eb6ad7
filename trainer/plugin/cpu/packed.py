"""Attention over packed sequences without flash-attn: what lets a CPU compute on real tokens only.

verl packs the sequences of a micro batch end to end where `use_remove_padding` is set, and leaves it to flash-attn to
keep them apart. Here only the attention itself sees rows: queries, keys and values are laid out as padded rows, one
causal attention goes over them, and the result is packed again. Padding stands on the right, where no real token looks,
so no mask is needed. Projections, norms and MLPs, most of a small model, see no padding at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

NAME = "klinic_packed"


def register() -> None:
    """Make the attention known to transformers under its name, without a mask of its own."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, no_mask)


def no_mask(*_: Any, **__: Any) -> None:
    """The mask that transformers prepares for this attention: none."""


@dataclass(frozen=True)
class Rows:
    """Where each packed token stands in padded rows. at: (tokens,), its place in rows * longest."""

    at: Tensor
    count: int
    longest: int

    @classmethod
    def of(cls, positions: Tensor) -> Rows:
        """From positions (1, tokens), which begin at 0 in each sequence."""
        position = positions.reshape(-1)
        row = (position == 0).cumsum(0) - 1
        longest = int(position.max()) + 1
        return cls(row * longest + position, int(row[-1]) + 1, longest)

    def pad(self, packed: Tensor) -> Tensor:
        """(1, heads, tokens, width) to (rows, heads, longest, width), zeros on the right."""
        tokens = packed[0].transpose(0, 1)
        heads, width = tokens.shape[1:]
        room = tokens.new_zeros(self.count * self.longest, heads, width)
        return room.index_copy(0, self.at, tokens).view(self.count, self.longest, heads, width).transpose(1, 2)

    def pack(self, padded: Tensor) -> Tensor:
        """(rows, heads, longest, width) to (1, tokens, heads, width)."""
        return padded.transpose(1, 2).flatten(0, 1).index_select(0, self.at)[None]


def attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    position_ids: Tensor | None = None,
    sliding_window: int | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """transformers' attention interface: query (1, heads, tokens, width); gives (1, tokens, heads, width).

    Raises ValueError for a batch that is not packed, and for a window.
    """
    if query.shape[0] != 1 or position_ids is None or position_ids.dim() != 2 or attention_mask is not None:
        raise ValueError(f"{NAME} takes packed sequences: set use_remove_padding=true, or attn_implementation=sdpa")
    if sliding_window is not None and sliding_window <= int(position_ids.max()):
        raise ValueError(f"{NAME} has no sliding window: set use_remove_padding=false and attn_implementation=sdpa")
    rows = Rows.of(position_ids)
    out = scaled_dot_product_attention(
        rows.pad(query),
        rows.pad(key),
        rows.pad(value),
        dropout_p=dropout,
        scale=scaling,
        is_causal=True,
        enable_gqa=query.shape[1] != key.shape[1],
    )
    return rows.pack(out), None
