"""Entry points of the installed packages, read once a process: each look goes through all of them."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Any


@cache
def _installed() -> Any:
    return metadata.entry_points()


def entry_points(group: str) -> tuple[metadata.EntryPoint, ...]:
    """Those of one group."""
    return tuple(_installed().select(group=group))
