"""The size of a model, from its config alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def parameters(path: Any) -> int | None:
    """Number of weights of a dense decoder from `config.json` in a folder; None where it cannot be told."""
    try:
        config = json.loads((Path(str(path)).expanduser() / "config.json").read_text("utf-8"))
        return _count(config)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _count(config: dict[str, Any]) -> int:
    hidden, layers = int(config["hidden_size"]), int(config["num_hidden_layers"])
    heads = int(config["num_attention_heads"])
    kv = int(config.get("num_key_value_heads") or heads)
    size = int(config.get("head_dim") or hidden // heads)
    attention = 2 * hidden * heads * size + 2 * hidden * kv * size
    feed_forward = 3 * hidden * int(config["intermediate_size"])
    tables = 1 if config.get("tie_word_embeddings") else 2
    return layers * (attention + feed_forward + 2 * hidden) + tables * int(config["vocab_size"]) * hidden
