"""Entry points of the installed packages, read once a process: each look goes through all of them."""

from __future__ import annotations

from functools import cache
from importlib import metadata


@cache
def _installed() -> metadata.EntryPoints:
    return metadata.entry_points()


def entry_points(group: str) -> metadata.EntryPoints:
    """Those of one group."""
    return _installed().select(group=group)
