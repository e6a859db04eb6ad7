"""The items of the fifth paper, drawn from a seed."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from ..fourth.host import Host
from ..fourth.plan import placed, waited
from ..plan import Item
from .calm import KINDS, Calm
from .catalogue import FAULTS
from .columns import clocked, shown, timed
from .fault import Fault, Sign
from .latent import causes
from .logs import SHARED, WRITERS, kept
from .world import WORLDS

SEED = 20270117
KEY = "fifth/key.yaml"
STEPS = (30, 50, 80, 120, 200, 320, 600)
DIALECTS = (*SHARED, *WRITERS)
GROUPED_ONLY = ("trl", "slime", "nemo", "nemo-tensorboard")
CONFIGURED = ("jsonl", "np-console", "wandb")
STEPPED = ("jsonl", "np-console", "wandb", "tensorboard")
PAIRS = (
    ("rate_too_high", "saving_stalls"), ("grader_gamed", "host_leaks"), ("exploration_ends", "sync_slow"),
    ("kernel_breaks", "grader_slow"), ("critic_flung", "empty_answers"), ("cap_too_low", "gradient_spikes"),
    ("queue_old", "queue_evicts"), ("validation_forgotten", "card_creeps"), ("answers_bloat", "loader_waits"),
    ("experts_uneven", "drafts_rejected"), ("skill_lost", "everything_slow"), ("pull_lost", "prompts_cut"),
)  # fmt: skip


def items(each: int, pairs: int, calm: int) -> Iterator[Item]:
    """`each` items a fault, `pairs` a pair of faults, `calm` a kind of healthy run; any number of each."""
    known = {fault.name: fault for fault in FAULTS}
    chosen = [((fault,), each) for fault in FAULTS]
    chosen += [(tuple(known[name] for name in pair), pairs) for pair in PAIRS]
    for turn in range(max(each, pairs, calm)):
        for number, (faults, count) in enumerate(chosen):
            if turn < count:
                yield _sick(faults, turn, np.random.default_rng([SEED, number, turn]))
        for number, kind in enumerate(KINDS):
            if turn < calm:
                yield _healthy(kind, turn, np.random.default_rng([SEED, 1000 + number, turn]))


def _made(
    name: str,
    steps: int,
    acting: dict[str, np.ndarray],
    signs: list[tuple[Sign, np.ndarray, float]],
    rng: np.random.Generator,
) -> Host:
    world = WORLDS[name]
    host = shown(world, acting, rng)
    clocked(world, host, rng)
    for sign, weight, level in signs:
        sign(world, host, weight, level, rng)
    return timed(world, host)


def _healthy(kind: Calm, turn: int, rng: np.random.Generator) -> Item:
    name, steps = str(rng.choice(kind.hosts)), int(rng.choice(STEPS))
    acting, whole = causes(steps), np.ones(steps)
    if kind.cause:
        kind.cause(WORLDS[name], acting, whole, 0.5)
    host = _made(name, steps, acting, [(kind.sign, whole, 0.5)] if kind.sign else [], rng)
    options = [one for one in DIALECTS if _fits(host, one)]
    if kind.name == "resumed":
        options = list(STEPPED[:2])
    dialect, with_config = str(rng.choice(options)), bool(rng.random() < 0.4)
    return Item(f"healthy-{kind.name}-{turn}", host, dialect, with_config, name, kind=kind.name, key=KEY)


def _sick(faults: tuple[Fault, ...], turn: int, rng: np.random.Generator) -> Item:
    hosts = [name for name in faults[0].hosts if all(name in fault.hosts for fault in faults)]
    while True:  # until the run is long enough for every fault and the log can show each
        name, steps = str(rng.choice(hosts)), int(rng.choice(STEPS))
        places = [placed(fault, steps, rng) for fault in faults]
        if None in places:
            continue
        levels = [float(rng.uniform(0.0, 0.5)) + 0.5 * (turn % 2) for _ in faults]
        acting, signs = causes(steps), []
        for fault, place, level in zip(faults, places, levels, strict=True):
            weight = place[2]  # type: ignore[index]
            if fault.cause:
                fault.cause(WORLDS[name], acting, weight, level)
            signs += [(fault.sign, weight, level)] if fault.sign else []
        host = _made(name, steps, acting, signs, rng)
        options = [one for one in DIALECTS if all(_shows(fault, host, one) for fault in faults)]
        if not options:
            continue
        ends = [
            place[0] + place[1] + fault.lag + waited(fault, host) for fault, place in zip(faults, places, strict=True)
        ]  # type: ignore[index]
        onsets = tuple((host.steps[p[0]], host.steps[min(end, steps - 1)]) for p, end in zip(places, ends, strict=True))  # type: ignore[index]
        dialect, names = str(rng.choice(options)), tuple(fault.name for fault in faults)
        with_config = bool(rng.random() < 0.4) or any(fault.told for fault in faults)
        return Item(
            f"{'+'.join(names)}-{turn}", host, dialect, with_config, name, names, onsets, bool(turn % 2), key=KEY
        )


def _fits(host: Host, dialect: str) -> bool:
    return host.grouped or dialect not in GROUPED_ONLY


def _shows(fault: Fault, host: Host, dialect: str) -> bool:
    if not _fits(host, dialect) or (fault.only and dialect not in fault.only):
        return False
    if fault.told and dialect not in CONFIGURED:
        return False
    if dialect in ("nemo", "nemo-tensorboard", "trl", "openrlhf", "slime") and fault.name.endswith("not_finite"):
        return dialect == "trl"
    held = kept(host, dialect)
    return all(any(name.startswith(one) for one, name in product(shown.split("|"), held)) for shown in fault.shows)
