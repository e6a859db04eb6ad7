"""A run's config: flat dotted keys, which of them a person wrote, and where they were found."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Config:
    """Flat config of a run.

    values: dotted key -> value as read (numbers as numbers, `1e-6` included).
    user: keys that a person wrote (launch command, overrides), as against defaults of a composed config.
    where: where each part was found, in words, in reading order.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    user: frozenset[str] = frozenset()
    where: tuple[str, ...] = ()

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
        """Value of a key as a float, or None where it is absent or no number (booleans are no numbers)."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
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
