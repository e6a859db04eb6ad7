"""Find a model's shape: from a folder's config.json, from the hub's cache on this machine, or from the table."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from klinic.diagnostics.files.home import expanded
from klinic.diagnostics.models.shape import Shape, shape_of
from klinic.diagnostics.yamlfiles import cardyaml

_VARIANT = re.compile(r"[-_](instruct|base|chat|it|hf|bf16|\d{4})(?=$|[-_])")


def find_shape(model: Any) -> Shape | None:
    """The shape of `actor_rollout_ref.model.path`: a folder or a hub's name; None where it cannot be told."""
    name = str(model or "")
    for file in _configs(name):
        try:
            return shape_of(json.loads(file.read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
            continue
    return _table().get(_VARIANT.sub("", name.rstrip("/").rpartition("/")[2].lower()))


def _configs(name: str) -> Iterator[Path]:
    folder = expanded(name)
    if name and _is_file(folder / "config.json"):
        yield folder / "config.json"
    cache_of_hub = expanded(os.environ.get("HF_HOME", "~/.cache/huggingface")) / "hub"
    if re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        yield from sorted((cache_of_hub / f"models--{name.replace('/', '--')}").glob("snapshots/*/config.json"))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


@cache
def _table() -> dict[str, Shape]:
    return {name: shape_of(row) for row in table() for name in row["names"]}


@cache
def table() -> tuple[dict[str, Any], ...]:
    """Rows of models.yaml: names, billions of weights as published, and config.json's fields."""
    return tuple(cardyaml.load(Path(__file__).with_name("models.yaml").read_text("utf-8")))
