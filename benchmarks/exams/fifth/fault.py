"""A fault of the fifth paper: a cause that changes, a sign that shows, or both; and where it can be."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..carriers import Columns
from ..fourth.host import Host
from .world import ACTOR, WORLDS, World

Cause = Callable[[World, Columns, np.ndarray, float], None]
Sign = Callable[[World, Host, np.ndarray, float, np.random.Generator], None]
ALL = tuple(WORLDS)
VALIDATED = tuple(name for name, world in WORLDS.items() if world.every)
CRITICS = tuple(name for name, world in WORLDS.items() if world.critic)
GROUPED = tuple(name for name, world in WORLDS.items() if world.group > 1)
MANY = tuple(name for name, world in WORLDS.items() if world.updates > 1)
PULLED = tuple(name for name, world in WORLDS.items() if world.drift)
BINARY = tuple(name for name, world in WORLDS.items() if not world.spread)
LEARNERS = tuple(name for name in VALIDATED if name != "dynamic")  # a filter hides what is learned from the score
LR = f"{ACTOR}.optim.lr"


@dataclass(frozen=True)
class Fault:
    """A cause that changes, a sign that shows, or both. The other fields are those of the fourth paper's faults."""

    name: str
    cause: Cause | None = None
    sign: Sign | None = None
    hosts: tuple[str, ...] = ALL
    shows: tuple[str, ...] = ()
    onsets: str = "soon middle late"
    drifts: bool = False
    before: int = 0
    lasts: int = 12
    told: bool = False
    only: tuple[str, ...] = ()
    recovers: bool = False
    lag: int = 0
