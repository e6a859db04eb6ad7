"""What a model is, from its config alone."""

from __future__ import annotations

import json
from typing import Any

from klinic.diagnostics.files.home import expanded
from klinic.diagnostics.models import find_shape


def parameters(path: Any) -> int | None:
    """Number of weights of a decoder, from a folder's `config.json` or the table of models; None where not known."""
    shape = find_shape(path)
    return None if shape is None else shape.weights


# Families of which klinic's attention over packed sequences was held against transformers' own.
PACKED_FAMILIES = ("llama", "mistral", "qwen2", "qwen3")


def packable(path: Any) -> bool:
    """Whether a local model computes the same on packed sequences: a known family, all attention without a window."""
    try:
        config = json.loads((expanded(str(path)) / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(config, dict) or config.get("model_type") not in PACKED_FAMILIES:
        return False
    layers = config.get("layer_types")
    if layers is None:
        return not config.get("sliding_window") or config.get("use_sliding_window") is False
    return set(layers) == {"full_attention"}
