"""The series notation of cases: `0.001x30 0.03+0.01x10 nan _x5` -> values, one a row."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Mapping
from typing import Any

from klinic.diagnostics.run import Happened, Run, RunBuilder, Source
from klinic.diagnostics.run.events import ConfigRead, ManifestRead, Meta, Row

MAX_ROWS = 20_000
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_TOKEN = re.compile(
    rf"(?P<start>_|nan|[-+]?inf|[-+]?{_NUMBER})(?P<more>[-+]{_NUMBER})?(?:~(?P<noise>{_NUMBER}))?(?:x(?P<times>\d+))?"
)
Cell = float | None  # None: not logged


class NotationError(ValueError):
    """A series that cannot be read."""


def parse_series(text: str | float, seed: str = "") -> list[Cell]:
    """Values of a series, one a row; None where nothing is logged.

    Tokens: `v`, `vxN` (N times), `start+stepxN`, `start-stepxN`, with `~s` normal noise of standard deviation s (drawn
    from `seed`, the same each time), `nan`, `inf`, `-inf`, `_`. Raises NotationError.
    """
    draws = random.Random(seed)  # noqa: S311 (reproducible noise, no secret)
    values: list[Cell] = []
    for token in str(text).split():
        values.extend(_expanded(token, draws))
        if len(values) > MAX_ROWS:
            raise NotationError(f"more than {MAX_ROWS} rows")
    return values


def _expanded(token: str, draws: random.Random) -> Iterable[Cell]:
    found = _TOKEN.fullmatch(token)
    if not found:
        raise NotationError(f"{token!r} is none of: 0.5, 0.5x10, 0.5+0.01x10, 0.5~0.02x10, nan, inf, _")
    times = int(found["times"] or 1)
    if times > MAX_ROWS:
        raise NotationError(f"{token!r}: more than {MAX_ROWS} rows")
    if found["start"] == "_":
        return [None] * times
    start, more, noise = float(found["start"]), float(found["more"] or 0), float(found["noise"] or 0)
    if not math.isfinite(start):
        return [start] * times
    return [start + more * i + (draws.gauss(0, noise) if noise else 0.0) for i in range(times)]


def run_from_series(case: Mapping[str, Any]) -> Run:
    """A run from a case: `series`, and where given `config`, `user`, `steps`, `decimals`, `events`, `manifest`,
    `framework`. Raises NotationError."""
    series = {name: parse_series(text, name) for name, text in case["series"].items()}
    height = max(map(len, series.values()), default=0)
    steps = _steps(case.get("steps"), height)
    builder = RunBuilder("case", "case", lambda name, _: name)
    builder.add(_preamble(case))
    digits = case.get("decimals")
    for row, step in enumerate(steps):
        values = {name: column[row] for name, column in series.items() if row < len(column) and column[row] is not None}
        decimals = digits if isinstance(digits, Mapping) else dict.fromkeys(values, digits)
        shown = {name: int(places) for name, places in decimals.items() if places is not None}
        builder.add(
            [*_events(case, step), Row({k: _printed(v, shown.get(k)) for k, v in values.items()}, step, decimals=shown)]
        )
    return builder.build()


def _printed(value: Cell, digits: int | None) -> Cell:
    return value if digits is None or value is None or not math.isfinite(value) else round(value, digits)


def _steps(text: str | None, height: int) -> list[int]:
    if text is None:
        return list(range(1, height + 1))
    steps = [int(step) for step in parse_series(text) if step is not None]
    if len(steps) != height:
        raise NotationError(f"steps: {len(steps)} for {height} rows")
    return steps


def _preamble(case: Mapping[str, Any]) -> Iterable[Any]:
    config = case.get("config") or {}
    user = set(case.get("user", config))
    yield Meta(framework=str(case.get("framework", "verl")))
    yield ConfigRead({k: v for k, v in config.items() if k not in user}, user=False, where="case")
    yield ConfigRead({k: v for k, v in config.items() if k in user}, user=True, where="case")
    yield ManifestRead(case.get("manifest") or {})


def _events(case: Mapping[str, Any], step: int) -> list[Happened]:
    return [Happened(event["kind"], step) for event in case.get("events") or () if event.get("step") == step]


__all__ = ["NotationError", "Source", "parse_series", "run_from_series"]
