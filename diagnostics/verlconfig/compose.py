"""Compose a verl config from overrides: with Hydra where verl is installed, else from the key table."""

from __future__ import annotations

import copy
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from klinic.diagnostics.run import Config
from klinic.diagnostics.run.config import flatten
from klinic.diagnostics.verlconfig.nearest import nearest
from klinic.diagnostics.verlconfig.overrides import Override, override
from klinic.diagnostics.verlconfig.table import all_keys, groups, has_engine, known, raw_default

_REFUSED = re.compile(r"Could not (override|append|delete)[^']*'([^']+)'", re.DOTALL)
_MARKS = {"override": ("", "++"), "append": ("+",), "delete": ("~",)}


@dataclass(frozen=True)
class Refused:
    """An override that does not compose: its text and why, in one line."""

    text: str
    message: str


@dataclass(frozen=True)
class Composed:
    """A composed config: flat, interpolations as written. by: who composed it. refused: overrides left out."""

    values: Mapping[str, Any]
    by: Literal["hydra", "table"]
    refused: tuple[Refused, ...] = ()

    def config(self, texts: Sequence[str], where: str) -> Config:
        """As a run's config, the overridden keys marked as written by a person."""
        written = {found.key for found in map(override, texts) if found is not None and found.mark != "~"}
        user = frozenset(key for key in self.values if any(key == one or key.startswith(f"{one}.") for one in written))
        return Config(self.values, user, (where,))


def installed() -> bool:
    """Whether verl's configs and Hydra are there."""
    return all(importlib.util.find_spec(name) is not None for name in ("verl", "hydra"))


def compose(texts: Sequence[str], engine: str | None = None) -> Composed:
    """Compose `texts` over verl's defaults; what does not compose is left out and listed in `refused`.

    engine: None for Hydra where it is there, else the table; "hydra" or "table" to choose.
    """
    by_hydra = installed() if engine is None else engine == "hydra"
    return _with_hydra(list(texts)) if by_hydra else _from_table(texts)


def _with_hydra(texts: list[str]) -> Composed:
    from hydra.errors import HydraException

    refused: list[Refused] = []
    while True:
        try:
            return Composed(_hydra(texts), "hydra", tuple(refused))
        except HydraException as trouble:
            culprit = _culprit(str(trouble), texts)
            if culprit is None:
                return Composed({}, "hydra", (*refused, Refused("", _one_line(str(trouble)))))
            refused.append(Refused(culprit, _one_line(str(trouble))))
            texts = [text for text in texts if text != culprit]


_FILES: dict[str, Any] = {}


def _read_once(load: Callable[[str], Any]) -> Callable[[str], Any]:
    """Hydra's reading of verl's files, done once a process: it takes half of the time of a composition."""

    def read(config_path: str) -> Any:
        if config_path not in _FILES:
            _FILES[config_path] = load(config_path)
        return copy.deepcopy(_FILES[config_path])  # compositions write into what they were given

    return read


def tree(texts: Sequence[str]) -> Any:
    """verl's config with these overrides, as Hydra composes it; raises HydraException."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    from klinic.diagnostics.verlconfig.generate import config_dir

    with initialize_config_dir(str(config_dir()), version_base=None):
        repository = GlobalHydra.instance().config_loader().repository
        repository.load_config = _read_once(repository.load_config)
        return hydra_compose("ppo_trainer", overrides=list(texts))


def _hydra(texts: Sequence[str]) -> dict[str, Any]:
    from omegaconf import OmegaConf

    container = OmegaConf.to_container(tree(texts), resolve=False)
    assert isinstance(container, dict)  # noqa: S101
    return {key: value for key, value in flatten(container) if not key.endswith("_target_")}


def _culprit(message: str, texts: Sequence[str]) -> str | None:
    hit = _REFUSED.search(message)
    for text in texts:
        one = override(text)
        if one is not None and hit is not None and one.key == hit[2] and one.mark in _MARKS[hit[1]]:
            return text
    return next((text for text in texts if text in message), None)


def _one_line(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return " ".join(lines[:3])[:300]


def _from_table(texts: Sequence[str]) -> Composed:
    found = [(text, override(text)) for text in texts]
    model_engine = next((str(one.value) for _, one in found if one and one.key == "model_engine"), "dp")
    values = {key: raw_default(key, model_engine) for key in all_keys() if has_engine(key, model_engine)}
    refused: list[Refused] = []
    for text, one in found:
        message = _apply(one, values)
        if message is not None:
            refused.append(Refused(text, message))
    return Composed(values, "table", tuple(refused))


def _apply(one: Override | None, values: dict[str, Any]) -> str | None:
    """Put an override into the values; a message where Hydra would refuse it."""
    if one is None:
        return "not an override: write key=value"
    if one.mark == "~":
        gone = [key for key in values if key == one.key or key.startswith(f"{one.key}.")]
        for key in gone:
            del values[key]
        return None if gone else f"Could not delete '{one.key}': it is not there"
    if one.mark == "" and one.key not in values and not known(one.key) and one.key not in groups():
        near = nearest(one.key)
        return f"Could not override '{one.key}': verl has no such key" + (f"; meant: {near[0]}" if near else "")
    if one.mark == "+" and one.key in values and values[one.key] != {}:
        return f"Could not append '{one.key}': it is there already; leave out the +"
    for parent in (one.key[:place] for place, char in enumerate(one.key) if char == "."):
        if values.get(parent) in ({}, None):
            values.pop(parent, None)
    values.update(flatten({one.key: one.value}))
    return None
