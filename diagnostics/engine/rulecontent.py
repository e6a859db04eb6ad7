"""Rule content beside the cards: YAML files in sub-folders of the rule packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from klinic.diagnostics.engine.library import folders
from klinic.diagnostics.yamlfiles import cardyaml


def content_files(part: str) -> Iterator[Path]:
    """YAML files of one sub-folder (`vitals`, `profiles`) over all rule packages, sorted by name within each."""
    for folder in folders():
        yield from sorted((folder / part).glob("*.yaml"))


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML mapping; ValueError, `file:line:column: what`, where it is none."""
    loaded, _, problem = cardyaml.read(path)
    if problem:
        raise ValueError(str(problem))
    if not isinstance(loaded, dict):
        raise ValueError(f"{path}:1:1: expected a mapping of keys, found {type(loaded).__name__}")
    return loaded
