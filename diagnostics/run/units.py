"""The unit that a metric's name carries: `critic/lr(1e-4)` is written in units of 1e-4."""

from __future__ import annotations

import re

_WITH_UNIT = re.compile(r"(?P<name>.+?)\((?P<unit>1e[-+]?\d+)\)")


def without_unit(name: str) -> str:
    """The name alone: `critic/lr` of `critic/lr(1e-4)`."""
    found = _WITH_UNIT.fullmatch(name)
    return found["name"] if found else name


def unit(name: str) -> float:
    """Factor that turns a value written under `name` into the metric's own unit.

    1e-4 for `critic/lr(1e-4)` (verl 0.2 and older), 1 for nearly everything else.
    """
    found = _WITH_UNIT.fullmatch(name)
    return float(found["unit"]) if found else 1.0
