"""Where rule content lies: folders of the packages that the entry-point group `klinic.rules` names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

GROUP = "klinic.rules"


@cache
def content_folders() -> tuple[Path, ...]:
    """Folders of every installed rule package, the built-in one first, then by name."""
    entries = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name != "builtin", entry.name))
    specs = (find_spec(entry.module) for entry in entries)
    return tuple(Path(place) for spec in specs if spec for place in spec.submodule_search_locations or ())


def content_files(part: str) -> Iterator[Path]:
    """YAML files of one sub-folder (`vitals`, `profiles`) over all rule packages, sorted by name within each."""
    for folder in content_folders():
        yield from sorted((folder / part).glob("*.yaml"))


def load_yaml(text: str | bytes) -> Any:
    """YAML by the C loader, with numbers as YAML 1.2 reads them (`1e-5` is one). Raises yaml.YAMLError."""
    return yaml.load(text, Loader=_loader())  # noqa: S506  a safe loader


@cache
def _loader() -> Any:
    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)[eE][-+]?\d+$"),
        list("-+.0123456789"),
    )
    return Loader


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML mapping; ValueError in one line where it is none."""
    try:
        loaded = load_yaml(path.read_bytes())
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(loaded, dict):
        raise ValueError(f"{path}: expected a mapping of keys, found {type(loaded).__name__}")
    return loaded
