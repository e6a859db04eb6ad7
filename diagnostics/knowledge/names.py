"""Map a metric's name as written onto verl 0.9.1's name for the same quantity."""

from __future__ import annotations


def canonical(name: str, framework: str) -> str:
    """verl's name for `name` as written by `framework` ("" where unknown); an unknown name stays as it is."""
    return name
