"""A run's config: flat dotted keys, which of them a person wrote, and where they were found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


def flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, leaf) of a nested mapping; an empty mapping is a leaf, lists are leaves."""
    for key, value in tree.items():
        dotted = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{dotted}.")
        else:
            yield dotted, value


def bounded(value: Any) -> Any:
    """A value as it is, but for whole numbers that no 64 bits hold: as floats, infinite beyond a float's range.

    Neither arithmetic nor JSON goes on with them. Lists, tuples and mappings are looked through.
    """
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else _as_float(value)
    if isinstance(value, Mapping):
        return {key: bounded(one) for key, one in value.items()}
    return [bounded(one) for one in value] if isinstance(value, list | tuple) else value


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_bounded(value: Any) -> bool:
    """Whether `bounded` gives this back as it is, told without a copy where it is a number or text."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**64
    return not isinstance(value, Mapping | list | tuple) or bounded(value) == value


@dataclass(frozen=True)
class Config:
    """Flat config of a run.

    values: dotted key -> value as read (numbers as numbers, `1e-6` included; whole ones beyond 64 bits as floats).
    user: keys that a person wrote (launch command, overrides), as against defaults of a composed config.
    where: where each part was found, in words, in reading order.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    user: frozenset[str] = frozenset()
    where: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        odd = {key: bounded(value) for key, value in self.values.items() if not _is_bounded(value)}
        if odd:
            object.__setattr__(self, "values", {**self.values, **odd})

    @cached_property
    def worked_out(self) -> dict[Any, Any]:
        """What others worked out of this config and keep with it."""
        return {}

    def __bool__(self) -> bool:
        return bool(self.values)

    def get(self, key: str, default: Any = None) -> Any:
        """Value of a dotted key, or `default` where the log does not say."""
        return self.values.get(key, default)

    def number(self, key: str) -> float | None:
        """Value of a key as a float, or None where it is absent or no finite number (booleans are no numbers)."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value)

    def merged(self, values: Mapping[str, Any], *, user: bool, where: str) -> Config:
        """A config in which `values` win over what was there before."""
        return Config(
            {**self.values, **values},
            self.user | frozenset(values) if user else self.user,
            self.where if where in self.where else (*self.where, where),
        )

    def overlaid(self, other: Config) -> Config:
        """A config in which another's values win; both keep their marks of what a person wrote."""
        return Config(
            {**self.values, **other.values},
            self.user | other.user,
            (*self.where, *(where for where in other.where if where not in self.where)),
        )
