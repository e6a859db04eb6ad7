"""The YAML tables of this folder, each read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from klinic.diagnostics.yamlfiles.yamlmemory import parsed


@cache
def loaded(name: str) -> dict[str, Any]:
    """What NAME.yaml holds."""
    found: dict[str, Any] = parsed(files(__package__).joinpath(f"{name}.yaml").read_text("utf-8"))
    return found
