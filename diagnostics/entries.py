"""Entry points of the installed packages, read once a process: each look goes through all of them."""

from __future__ import annotations

from functools import cache
from importlib import metadata

PREFIX = "klinic."


@cache
def _installed() -> metadata.EntryPoints:
    """Those of klinic's groups. Of a package installed twice the first on the path counts, as Python has it."""
    found: dict[str, metadata.EntryPoints] = {}
    for package in metadata.distributions():
        text = package.read_text("entry_points.txt") or ""
        if f"[{PREFIX}" in text:  # few have any: names and texts of all others need not be parsed
            found.setdefault(package.name, package.entry_points)
    return metadata.EntryPoints(point for points in found.values() for point in points)


def entry_points(group: str) -> tuple[metadata.EntryPoint, ...]:
    """Those of one group."""
    return tuple(_installed().select(group=group))
