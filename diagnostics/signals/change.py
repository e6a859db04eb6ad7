"""Change: trends, how straight they are, noise, distance from the best."""

from __future__ import annotations

from klinic.diagnostics.signals import windows
from klinic.diagnostics.signals.against import base, best, lower_is_better
from klinic.diagnostics.signals.functions import abs_, highest
from klinic.diagnostics.signals.node import Constant, Node
from klinic.diagnostics.signals.operators import arithmetic
from klinic.diagnostics.signals.registry import Bound, Count, Num, Window, signal
from klinic.diagnostics.signals.values import Windowed, med

TINY = 1e-12


@signal
def trend(m: Num, w: Count) -> Node:
    """Change over the window along the least squares line, in the metric's unit."""
    return Windowed("trend", m, w, windows.line, max(3, windows.minimum(w)))


@signal
def slope(m: Num, w: Count, floor: Bound = None) -> Node:
    """Relative change over the window: trend / max(|base|, floor)."""
    level = highest(abs_(base(m)), Constant(TINY if floor is None else floor)) if floor is not None else abs_(base(m))
    return arithmetic("/", trend(m, w), level)


@signal
def r2(m: Num, w: Count) -> Node:
    """Share of the window's variance that the straight line explains; unknown for a constant window."""
    return Windowed("r2", m, w, windows.straightness, max(3, windows.minimum(w)))


@signal
def noise(m: Num, w: Count = 50) -> Node:
    """Step to step noise in the metric's unit, from first differences; unknown under 6 values."""
    return Windowed("noise", m, w, windows.jitter, 6)


@signal
def drop(m: Num, w: Window, k: Count = 10) -> Node:
    """How far the median of the last w values lies below the best (above it where lower is better)."""
    sides = (best(m, k), med(m, w))
    return arithmetic("-", *(reversed(sides) if lower_is_better(m) else sides))
