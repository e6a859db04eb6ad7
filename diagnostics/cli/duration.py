"""Durations on the command line: 30m, 2h, 90s, 90."""

from __future__ import annotations

from klinic.diagnostics.cli.parsed import Parsed
from klinic.diagnostics.durations import seconds


def _some(text: str) -> float:
    found = seconds(text)
    if not found:
        raise ValueError(f"{text!r} is no time at all; write 30m, 2h or 90s")
    return found


DURATION = Parsed("duration", _some)
