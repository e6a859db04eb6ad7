"""The table of verl's config keys: which exist, their defaults, types and allowed values. See generate.py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from klinic.diagnostics.verlconfig.interpolate import resolve


@dataclass(frozen=True)
class Key:
    """One key: default with interpolations resolved, type words, allowed values or None, engines or None for all."""

    name: str
    default: Any
    types: tuple[str, ...]
    choices: tuple[Any, ...] | None
    engines: tuple[str, ...] | None


@cache
def _raw() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(Path(__file__).with_name("keys.json").read_bytes())
    return loaded


def version() -> str:
    """The verl version that the table was made from."""
    return str(_raw()["version"])


def all_keys() -> tuple[str, ...]:
    """All keys of the composed config, sorted."""
    return tuple(_raw()["keys"])


def has(key: str) -> bool:
    """Whether the composed config has exactly this key as a leaf."""
    return key in _raw()["keys"]


def extra_keys() -> tuple[str, ...]:
    """Keys that verl reads and its composed config lacks; an override of them needs a `+`."""
    return tuple(_raw()["extra"])


def groups() -> dict[str, list[str]]:
    """Config groups such as `model_engine` -> options."""
    found: dict[str, list[str]] = _raw()["groups"]
    return found


def plain(key: str) -> str:
    """A key without the `+`, `++` or `~` of an override."""
    return key.lstrip("+~")


def known(key: str) -> bool:
    """Whether verl 0.9.1's composed config has this key, a section of it included; `+` and `++` are looked through."""
    name = plain(key)
    return name in _raw()["keys"] or name in _sections() or name in groups()


@cache
def _sections() -> frozenset[str]:
    parents: set[str] = set()
    for key in _raw()["keys"]:
        parts = key.split(".")
        parents.update(".".join(parts[:end]) for end in range(1, len(parts)))
    return frozenset(parents)


def needs_plus(key: str) -> bool:
    """Whether verl takes this key only when it is appended with `+` (it reads it but its config lacks it)."""
    name = plain(key)
    if known(name):
        return False
    return name in _raw()["extra"] or any(parent in _open() for parent in _parents(name))


@cache
def _open() -> frozenset[str]:
    return frozenset(_raw()["open"])


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def entry(key: str) -> Key | None:
    """Everything that the table says on a key; a key that needs a `+` has no default."""
    name = plain(key)
    row = _raw()["keys"].get(name)
    if row is None:
        types = _raw()["extra"].get(name)
        return None if types is None else Key(name, None, tuple(types), None, None)
    _, types, allowed, engines, _ = row
    return Key(
        name, default(name), tuple(types), None if allowed is None else tuple(allowed), engines and tuple(engines)
    )


def default(key: str) -> Any:
    """verl's default of a key, interpolations resolved; None where the key is unknown or unset."""
    name = plain(key)
    return resolve(_defaults().get(name), name, _defaults())


def raw_default(key: str, engine: str = "dp") -> Any:
    """verl's default of a key as written, e.g. `${oc.select:actor_rollout_ref.actor.use_dynamic_bsz,false}`."""
    row = _raw()["keys"].get(plain(key))
    if row is None:
        return None
    return row[4][engine] if row[4] and engine in row[4] else row[0]


@cache
def _defaults() -> dict[str, Any]:
    return {name: row[0] for name, row in _raw()["keys"].items()}


def has_engine(key: str, engine: str) -> bool:
    """Whether a key is in the config composed with `model_engine=engine` (dp, megatron, veomni, torchtitan)."""
    found = entry(key)
    return found is not None and plain(key) in _raw()["keys"] and (found.engines is None or engine in found.engines)
