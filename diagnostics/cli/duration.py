"""Durations on the command line: 30m, 2h, 90s, 90."""

from __future__ import annotations

import re
from typing import Any

import click

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


class Duration(click.ParamType):  # type: ignore[type-arg]  # generic in some releases of click only
    """30m, 2h, 90s, 90."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        if isinstance(value, float):
            return value
        hit = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", str(value).strip())
        if hit is None or not float(hit[1]):
            self.fail(f"{value!r} is no duration; write 30m, 2h or 90s", param, ctx)
        return float(hit[1]) * _UNITS[hit[2]]
