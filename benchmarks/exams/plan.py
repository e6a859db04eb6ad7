"""The items of an exam, drawn from a seed: what is wrong, in which run, from which step, how it is logged."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from . import stress
from .carriers import Table
from .catalogue import FAULTS, PAIRS, WHOLE, Fault
from .editing import strength
from .names import kept
from .worlds import make, tidied


@dataclass(frozen=True)
class Paper:
    """One exam. ppo, grouped: its carriers; lengths: steps of its runs; reach: the least share of a fault's size."""

    seed: int
    ppo: tuple[str, ...]
    grouped: tuple[str, ...]
    lengths: tuple[int, ...]
    reach: float


PAPERS = {
    1: Paper(
        1,
        ("ppo-cpu-1", "ppo-cpu-2", "ppo-cpu-3", "7b:ppo-cpu-1", "7b:ppo-cpu-3", "ppo-public"),
        ("grpo-cpu", "grpo-gpu", "7b:grpo-gpu", "7b:grpo-cpu", "rloo:grpo-cpu", "rloo:grpo-gpu"),
        (30, 120, 120, 500, 500, 2000),
        1.0,
    ),
    2: Paper(
        20261130,
        ("ppo-gpu-1", "ppo-gpu-2", "7b:ppo-cpu-2", "7b:ppo-gpu-1", "ppo-public"),
        ("grpo-gpu-1", "grpo-gpu-2", "7b:grpo-gpu-1", "7b:grpo-gpu-2", "rloo:grpo-gpu-1", "rloo:grpo-gpu-2"),
        (40, 90, 200, 200, 700, 1500),
        0.75,
    ),
    3: Paper(
        7041776,
        ("ppo-gpu-3", "ppo-gpu-4", "ppo-gsm8k", "7b:ppo-gpu-3", "7b:ppo-gpu-2"),
        ("grpo-cpu-2", "grpo-cpu-3", "grpo-gpu-dp", "7b:grpo-cpu-2", "7b:grpo-gpu-dp", "rloo:grpo-cpu-3"),
        (50, 70, 150, 150, 320, 600),
        0.75,
    ),
}
ONE_UPDATE = "grpo-wobbly"  # one update a batch: healthy only, since no fault of the update shows in its update KL


@dataclass(frozen=True)
class Item:
    """One question. onsets: first and last right step of each fault; kind: of healthy stress; key: the answers."""

    name: str
    table: Table
    dialect: str
    with_config: bool
    carrier: str
    faults: tuple[str, ...] = ()
    onsets: tuple[tuple[int, int], ...] = ()
    gross: bool = False
    kind: str = ""
    key: str = "key.yaml"


def items(paper: Paper, each: int, pairs: int, calm: int) -> Iterator[Item]:
    """`each` items a fault, `pairs` a pair of faults, `calm` a kind of healthy run."""
    known = {fault.name: fault for fault in FAULTS}
    chosen = [((fault,), each) for fault in FAULTS]
    chosen += [(tuple(known[name] for name in pair), pairs) for pair in PAIRS]
    for turn in range(max(each, pairs, calm)):  # a round of everything, so that any number of rounds is an exam
        for number, (faults, count) in enumerate(chosen):
            if turn < count:
                yield _sick(paper, faults, turn, np.random.default_rng([paper.seed, number, turn]))
        for number, kind in enumerate(stress.KINDS):
            if turn < calm:
                yield _healthy(paper, kind, turn, np.random.default_rng([paper.seed, 1000 + number, turn]))


def _healthy(paper: Paper, kind: stress.Kind, turn: int, rng: np.random.Generator) -> Item:
    carrier = str(rng.choice((paper.ppo, (*paper.grouped, ONE_UPDATE))[turn % 2]))
    table = make(carrier, int(rng.choice(paper.lengths)), rng, float(rng.choice([0.7, 1.0, 1.0, 3.0])))
    kind(table, rng)
    table = tidied(table)
    dialect = _dialect(table, carrier, rng)
    name = f"healthy-{kind.__name__}-{turn}"
    return Item(name, table, dialect, bool(rng.random() < 0.5), carrier, kind=kind.__name__)


def _sick(paper: Paper, faults: tuple[Fault, ...], turn: int, rng: np.random.Generator) -> Item:
    lengths = [steps for steps in paper.lengths if steps >= max(fault.least for fault in faults)]
    carriers = [name for fault in faults for name in _among(paper, fault)]
    carriers = [name for name in sorted(set(carriers)) if carriers.count(name) == len(faults)]
    while True:  # until the log can show every fault
        carrier = str(rng.choice(carriers))
        table = make(carrier, int(rng.choice(lengths)), rng, float(rng.choice([0.7, 1.0, 2.0])))
        dialect = _dialect(table, carrier, rng)
        if all(_shown(fault, table, dialect) for fault in faults):
            return _injected(paper, faults, turn, Item("", table, dialect, False, carrier), rng)


def _among(paper: Paper, fault: Fault) -> tuple[str, ...]:
    return {"ppo": paper.ppo, "grouped": paper.grouped}.get(fault.among, paper.ppo + paper.grouped)


def _dialect(table: Table, carrier: str, rng: np.random.Generator) -> str:
    options = ["verl", "verl", "verl-console", "verl-usual"]
    options += ["openrlhf"] if table.algorithm == "ppo" else ["trl", "trl"]
    return "verl-console" if carrier == "ppo-public" else str(rng.choice(options))


def _shown(fault: Fault, table: Table, dialect: str) -> bool:
    held = kept(table, dialect)
    return dialect not in fault.blind and any(name.startswith(shown) for shown in fault.shows for name in held)


def _injected(paper: Paper, faults: tuple[Fault, ...], turn: int, item: Item, rng: np.random.Generator) -> Item:
    table, gross, onsets = item.table, bool(turn % 2), []
    for fault in faults:
        row, ramp = _when(fault, item, rng)
        reach = float(rng.uniform(paper.reach, 1.0))
        fault.inject(table, strength(len(table), row, ramp) * (1.0 if fault.name in WHOLE else reach), gross, rng)
        onsets.append((table.steps[row], table.steps[min(row + ramp, len(table)) - 1]))
    names = tuple(fault.name for fault in faults)
    with_config = bool(rng.random() < 0.5) or any(fault.needs_config for fault in faults)
    name = f"{'+'.join(names)}-{turn}"
    return Item(name, tidied(table), item.dialect, with_config, item.carrier, names, tuple(onsets), gross)


def _when(fault: Fault, item: Item, rng: np.random.Generator) -> tuple[int, int]:
    """First row, and rows until the full size. A run that starts from nothing shows few faults in its first steps."""
    steps = len(item.table)
    options = [word for word in fault.onsets.split() if word != "late" or steps >= 120]
    if item.carrier == "ppo-public" and "middle" in options:
        options = [word for word in options if word != "start"]
    place = str(rng.choice(options or ["middle"]))
    row = {"start": 0, "middle": int(steps * rng.uniform(0.35, 0.6)), "late": int(steps * 0.9)}[place]
    may = place == "middle" and steps >= 120
    drift = may and (fault.drifts == "always" or (fault.drifts == "maybe" and rng.random() < 0.5))
    return row, int(0.3 * steps) if drift else 1
