"""How a constraint is written: what verl demands of a config as a whole, or accepts although it does nothing.

A constraint is a function of the `Settings` that returns a sentence or None, with the keys it speaks of. hard: verl (or
the engine below it) stops, at start-up, when workers are built or at an update; else the message says what is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from klinic.diagnostics.verlconfig.settings import Settings

Check = Callable[[Settings], str | None]


class Doubt(str):
    """The sentence of a soft constraint that lacks a fact to be sure: a remark, no warning."""

    __slots__ = ()


@dataclass(frozen=True)
class Violation:
    """A broken constraint: its name, the keys involved, a sentence; hard where verl stops, with the stage.

    sure: False where a fact was missing that might excuse it.
    """

    name: str
    keys: tuple[str, ...]
    message: str
    hard: bool
    stage: str
    sure: bool = True


@dataclass(frozen=True)
class Constraint:
    """One rule of the config as a whole."""

    name: str
    keys: tuple[str, ...]
    hard: bool
    stage: str
    check: Check


CONSTRAINTS: list[Constraint] = []


def constraint(*keys: str, hard: bool = True, stage: str = "start-up") -> Callable[[Check], Check]:
    """Register a check under its function's name."""

    def register(check: Check) -> Check:
        name = check.__name__.strip("_").replace("_", "-")
        CONSTRAINTS.append(Constraint(name, keys, hard, stage, check))
        return check

    return register
