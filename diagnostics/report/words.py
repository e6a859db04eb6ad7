"""How reports write numbers, step ranges, bounds and small curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from klinic.diagnostics.engine.curves import thinned
from klinic.diagnostics.language import current_language, tr

BARS = "▁▂▃▄▅▆▇█"


def number(value: float | None) -> str:
    """A number with three significant digits, whole from 100 on: 0.0832, 4.93, 1024, 3.2e-06; `unknown` for None."""
    if value is None:
        return tr("unknown")
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    if 100 <= abs(value) < 1_000_000:
        return f"{value:.0f}"
    if 0.001 <= abs(value) < 100:
        return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}".rstrip("0").rstrip(".")
    return f"{value:.3g}"


def plain(value: Any) -> str:
    """A config value as a person writes it in an override: true, 3e-07, [a,b]; `unset` for None."""
    if value is None:
        return tr("unset")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(plain, value))}]"
    return str(value)


def bounds(low: float | None, high: float | None) -> str:
    """A healthy range in words: `0.6 to 0.9`, `below 0.02`, `above 800`; empty where both ends are open."""
    if low is not None and high is not None:
        return tr("{} to {}", number(low), number(high))
    if high is not None:
        return tr("below {}", number(high))
    return tr("above {}", number(low)) if low is not None else ""


def steps(first: int, last: int, *, running: bool = False) -> str:
    """`step 41`, `steps 41 to 60`, or `from step 41 on` for what still holds at the last step."""
    if first == last:
        return tr("step {}", first)
    return tr("from step {} on", first) if running else tr("steps {} to {}", first, last)


def count(amount: int, noun: str) -> str:
    """`1 row`, `12 rows`."""
    return f"{amount} {noun}{'' if amount == 1 else 's'}" if current_language() == "en" else tr(f"{{}} {noun}", amount)


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return tr("{} and {}", tr(", ").join(words[:-1]), words[-1])


def sparkline(values: Sequence[float | None], width: int = 24) -> str:
    """A curve of block characters, `width` at most; a cell without a finite value is a middle dot."""
    cells = thinned(values, width)
    finite = [cell for cell in cells if cell is not None]
    if not finite:
        return "·" * len(cells)
    low, high = min(finite), max(finite)
    return "".join("·" if cell is None else _bar(cell, low, high) for cell in cells)


def _bar(value: float, low: float, high: float) -> str:
    span = high / 2 - low / 2  # halves: the difference of two finite numbers may not be finite
    if span <= 0:
        return BARS[3 if value else 0]
    return BARS[min(len(BARS) - 1, int((value / 2 - low / 2) / span * len(BARS)))]
