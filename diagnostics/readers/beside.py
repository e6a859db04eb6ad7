"""Config that stands beside a log: `command.txt`, `overrides.txt`, Hydra's `.hydra/`."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klinic.diagnostics.readers.part import Part
from klinic.diagnostics.readers.records.wholefile import Whole
from klinic.diagnostics.run.config import flatten
from klinic.diagnostics.run.events import ConfigRead, Event, Note

WRITTEN = ("command.txt", "overrides.txt", "command.sh")
HYDRA_CONFIG, HYDRA_OVERRIDES = ".hydra/config.yaml", ".hydra/overrides.yaml"
NAMES = frozenset(WRITTEN)


def parse_overrides(text: str) -> dict[str, Any]:
    """Overrides that a person wrote in a launch command or a list, as flat keys -> values."""
    try:
        module = importlib.import_module("klinic.diagnostics.readers.text.configtext")
    except ModuleNotFoundError:
        return {}
    return dict(module.parse_overrides(text))


def _read(text: str) -> Any:
    """YAML as OmegaConf reads it: `1e-5` is a number. Raises ValueError for what is none."""
    import yaml

    from klinic.diagnostics.yamlfiles import safeyaml

    class Loader(yaml.SafeLoader):
        """With a resolver of its own."""

    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"^[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)$"),
        list("-+.0123456789"),
    )
    try:
        return safeyaml.read(text, Loader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


class _Text(Whole):
    """A small text file being read; subclasses turn its content into events."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self._where = where

    def close(self) -> Iterator[Event]:
        """Report the config."""
        try:
            values = self._values(self._data.decode("utf-8", "replace"))
        except ValueError as error:
            yield Note(f"{self._where} could not be read ({' '.join(str(error).split())}); it was left out")
            return
        if values:
            yield ConfigRead(values, user=self.user, where=self._where)

    user = True

    def _values(self, text: str) -> dict[str, Any]:
        return parse_overrides(text)


class _HydraConfig(_Text):
    user = False

    def _values(self, text: str) -> dict[str, Any]:
        tree = _read(text)
        return dict(flatten(tree)) if isinstance(tree, Mapping) else {}


class _HydraOverrides(_Text):
    def _values(self, text: str) -> dict[str, Any]:
        items = _read(text)
        words = [str(item) for item in items] if isinstance(items, list) else []
        return parse_overrides(shlex.join(words)) if words else {}


@dataclass(frozen=True)
class _Opens:
    """Begins to read such a file. Equal where kind and name are: a plan made anew must equal the one being read."""

    kind: type[_Text]
    where: str

    def __call__(self) -> _Text:
        return self.kind(self.where)


def beside(folder: Path) -> tuple[Part, ...]:
    """The parts that give the config of a log in this folder, the least sure first."""
    kinds = {HYDRA_CONFIG: _HydraConfig, HYDRA_OVERRIDES: _HydraOverrides, **dict.fromkeys(WRITTEN, _Text)}
    there = [(name, kind) for name, kind in kinds.items() if (folder / name).is_file()]
    return tuple(
        Part(folder / name, rank=rank - len(kinds), opens=_Opens(kind, name), whole=True)
        for rank, (name, kind) in enumerate(there)
    )
