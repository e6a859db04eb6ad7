"""The size of a model, from its config alone."""

from __future__ import annotations

from typing import Any

from klinic.diagnostics.estimate import find_shape


def parameters(path: Any) -> int | None:
    """Number of weights of a decoder, from a folder's `config.json` or the table of models; None where not known."""
    shape = find_shape(path)
    return None if shape is None else shape.weights
