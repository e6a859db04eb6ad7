"""Write `keys.json`, the table of verl's config keys, from the installed verl.

Run `python -m klinic.diagnostics.verlconfig.generate`; needs the `[train]` extra. `keys.json` holds
version: of verl. keys: dotted key -> [default, types, choices or null, engines or null, others or null], defaults
with their interpolations as written; engines: the `model_engine` choices that have the key, null for all; others:
engine -> default where it differs from the first engine's.
extra: keys that a section's dataclass takes and the composed config lacks: these need a `+`.
open: sections whose content is free (keyword arguments handed on): any key below needs a `+` and is fine.
groups: config groups that may be overridden -> their options.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import importlib.util
import json
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from klinic.diagnostics.run.config import flatten
from klinic.diagnostics.verlconfig.choices import choices

# Sections without a dataclass whose content verl hands on as keyword arguments.
HANDED_ON = {"ray_kwargs.ray_init", "ray_kwargs.ray_init.runtime_env", "data.custom_cls"}
ENGINES = ("dp", "megatron", "veomni", "torchtitan")
TARGET = Path(__file__).with_name("keys.json")
_WORDS = {bool: "bool", int: "int", float: "float", str: "str", type(None): "null"}


def config_dir() -> Path:
    """verl's folder of Hydra configs; ModuleNotFoundError where verl is not installed."""
    spec = importlib.util.find_spec("verl")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("verl is not installed", name="verl")
    return Path(spec.submodule_search_locations[0]) / "trainer" / "config"


def composed(engine: str) -> dict[str, Any]:
    """verl's default config for one engine as Hydra composes it, interpolations unresolved."""
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(str(config_dir()), version_base=None):
        tree = compose("ppo_trainer", overrides=[f"model_engine={engine}"])
    return typing.cast(dict[str, Any], OmegaConf.to_container(tree, resolve=False))


def type_words(hint: Any) -> list[str]:
    """Words for an annotation: bool int float str list dict null, or any."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return sorted({word for one in inside for word in type_words(one)})
    if origin is typing.Literal:
        return sorted({_WORDS[type(one)] for one in inside})
    plain = origin or hint
    if plain in _WORDS:
        return ["float", "int"] if plain is float else [_WORDS[plain]]
    if plain in (list, tuple):
        return ["list"]
    return ["dict"] if plain is dict or dataclasses.is_dataclass(plain) else ["any"]


def value_words(value: Any) -> list[str]:
    """Words for a default without an annotation: a word may be a list of words, a null may be anything."""
    if value is None or (isinstance(value, str) and ("${" in value or value == "???")):
        return ["any"]
    return ["list", "str"] if isinstance(value, str) else type_words(type(value))


def sections(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every mapping of the tree with its dotted path."""
    yield prefix, tree
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from sections(value, f"{prefix}.{name}" if prefix else name)


def dataclass_of(section: Mapping[str, Any]) -> type | None:
    """The dataclass that a section is made into, by its `_target_`."""
    if "_target_" not in section:
        return None
    module, _, name = str(section["_target_"]).rpartition(".")
    found = getattr(importlib.import_module(module), name)
    return found if isinstance(found, type) and dataclasses.is_dataclass(found) else None


def hints_of(tree: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Annotations of keys that the tree has, and of fields that it lacks."""
    known: dict[str, Any] = {}
    lacking: dict[str, Any] = {}
    for path, section in sections(tree):
        cls = dataclass_of(section)
        if cls is None:
            continue
        hints = typing.get_type_hints(cls)
        for field in dataclasses.fields(cls):
            if not field.name.startswith("_"):
                (known if field.name in section else lacking)[f"{path}.{field.name}"] = hints[field.name]
    return known, lacking


def is_free(hint: Any) -> bool:
    """Whether an annotation is a plain dict, optional or not: its content is free."""
    return any((typing.get_origin(one) or one) is dict for one in (hint, *typing.get_args(hint)))


def expanded(path: str, hint: Any) -> Iterator[tuple[str, Any]]:
    """A lacking field and, where it is a dataclass, the fields below it, with their annotations."""
    yield path, hint
    options = [hint, *typing.get_args(hint)]
    cls = next((one for one in options if dataclasses.is_dataclass(one)), None)
    if cls is not None:
        hints = typing.get_type_hints(cls)
        for field in dataclasses.fields(cls):
            if not field.name.startswith("_") and path.count(".") < 6:
                yield from expanded(f"{path}.{field.name}", hints[field.name])


def table() -> dict[str, Any]:
    """The content of `keys.json`."""
    made = _Table(choices())
    for engine in ENGINES:
        made.add(engine, composed(engine))
    return {"version": importlib.metadata.version("verl"), **made.data(), "groups": groups()}


class _Table:
    """Keys of the configs of all engines: a row each of default, types, choices, engines, defaults that differ by
    engine. extra: keys that the config lacks, and their types. free: keys below which anything may stand."""

    def __init__(self, allowed: Mapping[str, Any]) -> None:
        self._allowed = allowed
        self._keys: dict[str, list[Any]] = {}
        self._extra: dict[str, list[str]] = {}
        self._free: set[str] = set(HANDED_ON)

    def add(self, engine: str, tree: Any) -> None:
        """Take up the config that is composed for an engine."""
        known, lacking = hints_of(tree)
        for key, value in flatten(tree):
            if not key.endswith("_target_"):
                self._put(engine, key, value, known)
        for path, hint in lacking.items():
            for key, lower in expanded(path, hint):
                self._extra[key] = type_words(lower)
                self._free |= {key} if is_free(lower) else set()

    def _put(self, engine: str, key: str, value: Any, known: Mapping[str, Any]) -> None:
        words = type_words(known[key]) if key in known else value_words(value)
        default, _, _, engines, apart = self._keys.setdefault(key, [value, words, self._allowed.get(key), [], {}])
        engines.append(engine)
        if value != default:
            apart[engine] = value
        if value == {} or is_free(known.get(key)):
            self._free.add(key)

    def data(self) -> dict[str, Any]:
        """As JSON has it: null for all engines, and where no default differs."""
        rows = {
            key: [*row, None if len(engines) == len(ENGINES) else engines, apart or None]
            for key, (*row, engines, apart) in sorted(self._keys.items())
        }
        extra = {key: words for key, words in sorted(self._extra.items()) if key not in rows}
        return {"keys": rows, "extra": extra, "open": sorted(self._free)}


def groups() -> dict[str, list[str]]:
    """Config groups that the primary config selects from, with the options on disk."""
    import yaml

    defaults = yaml.safe_load((config_dir() / "ppo_trainer.yaml").read_text())["defaults"]
    names = [next(iter(entry)) for entry in defaults if isinstance(entry, Mapping)]
    return {name: sorted(file.stem for file in (config_dir() / name.split("@")[0]).glob("*.yaml")) for name in names}


def main() -> None:
    """Write the table beside this file."""
    found = table()
    lines = [f" {json.dumps(key)}: {json.dumps(entry)}" for key, entry in found["keys"].items()]
    rest = {name: part for name, part in found.items() if name != "keys"}
    TARGET.write_text(json.dumps(rest)[:-1] + ',\n"keys": {\n' + ",\n".join(lines) + "\n}}\n")
    sys.stdout.write(f"{TARGET.name}: verl {found['version']}, {len(found['keys'])} keys\n")


if __name__ == "__main__":
    main()
