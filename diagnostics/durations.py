"""Durations as people write them: 30m, 2h, 90s, 90."""

from __future__ import annotations

import re

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def seconds(text: str) -> float:
    """Seconds of 30m, 2h, 90s or 90. Raises ValueError for all else."""
    hit = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if hit is None:
        raise ValueError(f"{text!r} is no duration; write 30m, 2h or 90s")
    return float(hit[1]) * _UNITS[hit[2]]
