"""Read `--config FILE`: a run's config as YAML (nested or flat), or as overrides or a launch command."""

from __future__ import annotations

import codecs
from dataclasses import replace
from pathlib import Path
from typing import Any

from klinic.diagnostics.files.smallfile import small_file
from klinic.diagnostics.run import Run
from klinic.diagnostics.run.config import flatten

BOM16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_config(path: Path) -> dict[str, Any]:
    """Flat dotted keys -> values.

    Raises OSError where the file cannot be read and ValueError, in one line, where it holds no config.
    """
    data = small_file(path)
    text = data.decode("utf-16" if data.startswith(BOM16) else "utf-8-sig", "replace")
    if "\0" in text:
        raise ValueError(f"{path}: binary data; give YAML, or overrides such as data.train_batch_size=64")
    values = _from_yaml(text) or _from_overrides(text)
    if not values:
        raise ValueError(f"{path}: no config in it; give YAML, or overrides such as data.train_batch_size=64")
    return values


def _from_yaml(text: str) -> dict[str, Any]:
    import yaml

    from klinic.diagnostics.yamlfiles import cardyaml

    try:
        tree = cardyaml.load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return dict(flatten(tree)) if isinstance(tree, dict) else {}


def _from_overrides(text: str) -> dict[str, Any]:
    from klinic.diagnostics.readers.text.configtext import parse_overrides

    return parse_overrides(text)


def with_config(run: Run, values: dict[str, Any], where: str) -> Run:
    """The run with config values that a person gave; what the log itself says of a key wins."""
    own = run.config
    merged = own.merged({key: value for key, value in values.items() if key not in own.values}, user=True, where=where)
    return replace(run, config=merged)
