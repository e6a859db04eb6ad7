"""Durations as people write and read them."""

from __future__ import annotations

import re

from klinic.diagnostics.language import tr

LONGEST = 10 * 366 * 86400.0  # seconds; the system's own clocks and waits take no number at all
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def seconds(text: str) -> float:
    """Seconds of 30m, 2h, 90s or 90. Raises ValueError for all else."""
    hit = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if hit is None:
        raise ValueError(f"{text!r} is no duration; write 30m, 2h or 90s")
    found = float(hit[1]) * _UNITS[hit[2]]
    if found > LONGEST:
        raise ValueError(f"{text[:40]!r} is longer than ten years")
    return found


def in_words(seconds: float) -> str:
    """12 s, 3 min 20 s, 2 h 5 min, 3 d 4 h; nothing is shorter than 0 s."""
    whole = max(0, round(seconds))
    if whole < 60:
        return tr("{} s", whole)
    if whole < 3600:
        return tr("{} min {} s", whole // 60, whole % 60)
    if whole < 48 * 3600:
        return tr("{} h {} min", whole // 3600, whole % 3600 // 60)
    return tr("{} d {} h", whole // 86400, whole % 86400 // 3600)
