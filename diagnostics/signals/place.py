"""Place in the run: step, plan, boundaries, rows, updates per batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from klinic.diagnostics.run import Run
from klinic.diagnostics.signals.block import Block, Floats
from klinic.diagnostics.signals.node import ALWAYS, Node
from klinic.diagnostics.signals.operators import arithmetic
from klinic.diagnostics.signals.parse import ExpressionError
from klinic.diagnostics.signals.registry import Text, signal
from klinic.diagnostics.signals.stream import Stream, Value

FAR = 1e9  # rows since a boundary where there was none
_MOVED = 1e-4  # an update KL below it is numerical noise of a single on-policy update
_BOUNDARIES = ("reward_swapped", "reward swapped")


def stepped(height: int, row: int, value: float) -> Floats:
    """Unknown before `row`, `value` from it on."""
    values = np.full(height, np.nan)
    values[row:] = value
    return values


class FromBlock(Node):
    """A stateless reading of the block."""

    def __init__(self, key: str, read: Callable[[Block], Value], kind: Any = "number", *, still: bool = True) -> None:
        super().__init__(key, rank=ALWAYS)
        self.read = read
        self.kind = kind
        self.still = still

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Read it off."""
        return Stream(self.read(block)), None


def fact(name: str) -> Node:
    """A number among the facts, unknown where nobody says."""

    def read(block: Block) -> Value:
        value = block.fact(name)
        return None if value is None else float(value)

    return FromBlock(f"fact:{name}", read)


@signal
def step() -> Node:
    """Step at the row."""
    return FromBlock("step()", lambda block: block.steps, still=False)


@signal
def total() -> Node:
    """Planned steps, unknown where the config does not say."""
    return fact("total_steps")


@signal
def progress() -> Node:
    """step() / total()."""
    return arithmetic("/", step(), total())


@signal
def rows() -> Node:
    """Rows so far, of the training at hand."""
    return FromBlock("rows()", _rows, still=False)


def _rows(block: Block) -> Floats:
    return np.arange(block.first + 1, block.last + 1, dtype=np.float64) - block.begins


def swaps(run: Run) -> set[int]:
    """Steps at which something begins anew within an attempt, by the run's events."""
    return {event.step for event in run.events if event.kind in _BOUNDARIES and event.step is not None}


class Boundary(Node):
    """Rows since the last attempt, resume or reward swap began. State: (rows since, attempt of the last row)."""

    lasting = True

    def __init__(self, kind: str) -> None:
        super().__init__(f"boundary({kind!r})", rank=ALWAYS)
        self.among = kind

    def start(self) -> tuple[float, int | None]:
        """No boundary yet."""
        return FAR, None

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Count on from the last boundary."""
        since, attempt = state
        swapped = swaps(block.run) if self.among == "any" else set()
        out: list[float] = []
        for number, at in zip(block.attempts, block.steps.tolist(), strict=True):
            crossed = (attempt is not None and number != attempt) or at in swapped
            since = 0.0 if crossed else min(since + 1, FAR)
            attempt = number
            out.append(since)
        return Stream(np.asarray(out)), (since, attempt)


@signal
def boundary(kind: Text = "any") -> Node:
    """Rows since the last boundary ("any": attempt, reward swap; or "attempt"); very large where there was none."""
    if kind not in ("any", "attempt"):
        raise ExpressionError(f"boundary knows 'any' and 'attempt', not {kind!r}")
    return Boundary(kind)


class Updates(Node):
    """U: from the config, else 2 from the row on where the policy was seen to move within a batch."""

    def __init__(self) -> None:
        super().__init__("U", rank=ALWAYS)

    def start(self) -> bool:
        """Not seen to move yet."""
        return False

    def advance(self, block: Block, args: Sequence[Stream], state: bool) -> tuple[Stream, Any]:
        """The fact, or what the metrics give away."""
        stated = block.fact("U")
        if stated is not None:
            return Stream(float(stated)), state
        if state:
            return Stream(2.0), True
        moved = (block.column("actor/pg_clipfrac") > 0) | (np.abs(block.column("actor/ppo_kl")) > _MOVED)
        held = np.flatnonzero(moved)
        return (Stream(stepped(block.height, int(held[0]), 2.0)), True) if len(held) else (Stream(None), False)


def u_() -> Node:
    """Optimiser updates per rollout batch."""
    return Updates()


u_.__name__ = "U"
signal(u_)


@signal
def n() -> Node:
    """Samples a prompt."""
    return fact("n")
