"""The items of the fourth paper, drawn from a seed."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from ..plan import Item
from .calm import KINDS, Calm
from .catalogue import FAULTS
from .fault import Fault, Placed
from .host import Host, finished
from .logs import WRITERS, kept
from .worlds import LENGTHENED, RECORDED, WORLDS, build

PAIRS = (
    ("update_too_large", "throughput_drop"),
    ("entropy_collapse", "checkpoint_stall"),
    ("reward_hacking", "host_memory_growth"),
    ("critic_exploding", "truncation_high"),
    ("rollout_mismatch", "gpu_memory_growth"),
    ("kl_ref_drift", "reward_timeout"),
    ("nan_reward", "long_tail"),
    ("aborted_responses", "grad_norm_spike"),
    ("stale_off_policy", "eviction_high"),
    ("moe_imbalance", "moe_router_drift"),
    ("length_explosion", "clipfrac_high"),
    ("value_ev_negative", "throughput_drop"),
    ("val_drop", "weight_sync_slow"),
    ("turns_run_away", "rollout_failures"),
    ("truncation_high", "gpu_out_of_memory"),
    ("length_collapse", "vllm_preemption"),
    ("no_signal_groups", "other_stall"),
)
SEED = 19991231
KEY = "fourth/key.yaml"
STEPS = (15, 24, 40, 60, 110, 180, 300, 1000)
GROUPED_ONLY = ("trl", "trl-state", "slime")
CONFIGURED = ("jsonl", "slim", "old-console", "np-console")
UNLIKE = (("harder_stage", "rm"), ("harder_stage", "rloo"))  # a step down by a deviation is a collapse until it climbs
POINTLESS = {  # stress that has no meaning there
    "solved": ("rm", "rloo", "dapo"),
    "tiny_batches": ("rm", "rloo"),
    "gentle_slope": ("rm", "rloo"),
}


def items(each: int, pairs: int, calm: int) -> Iterator[Item]:
    """`each` items a fault, `pairs` a pair of faults, `calm` a kind of healthy run; at most three of each."""
    known = {fault.name: fault for fault in FAULTS}
    chosen = [((fault,), min(each, 3)) for fault in FAULTS]
    chosen += [(tuple(known[name] for name in pair), min(pairs, 3)) for pair in PAIRS]
    for turn in range(3):
        for number, (faults, count) in enumerate(chosen):
            if turn < count:
                yield _sick(faults, turn, np.random.default_rng([SEED, number, turn]))
        for number, kind in enumerate(KINDS):
            if turn < min(calm, 4):
                yield _healthy(kind, turn, np.random.default_rng([SEED, 1000 + number, turn]))
    for number, kind in enumerate(KINDS if calm > 3 else ()):
        yield _healthy(kind, 3, np.random.default_rng([SEED, 1000 + number, 3]))


def _healthy(kind: Calm, turn: int, rng: np.random.Generator) -> Item:
    hosts = [name for name in WORLDS if name not in POINTLESS.get(kind.__name__, ())]
    if turn == 3:
        hosts = [*RECORDED, *LENGTHENED]
    host_name = str(rng.choice(hosts))
    while (kind.__name__, host_name) in UNLIKE:
        host_name = str(rng.choice(hosts))
    host = build(host_name, int(rng.choice((15, 24, 60, 110, 180, 300, 1000))), rng)
    kind(host, rng)
    finished(host)
    options = [name for name in WRITERS if _fits(host, name)]
    if kind.__name__ == "resumed_twice":
        options = list(CONFIGURED)
    dialect = str(rng.choice(options))
    name = f"healthy-{kind.__name__}-{turn}"
    with_config = bool(rng.random() < 0.4)
    return Item(name, host, dialect, with_config, host_name, kind=kind.__name__, key=KEY)


def _fits(host: Host, dialect: str) -> bool:
    return host.grouped or dialect not in GROUPED_ONLY


def _sick(faults: tuple[Fault, ...], turn: int, rng: np.random.Generator) -> Item:
    hosts = [name for name in faults[0].hosts if all(name in fault.hosts for fault in faults)]
    while True:  # until the log can show every fault and the run is long enough for each
        host_name = str(rng.choice(hosts))
        host = build(host_name, int(rng.choice(STEPS)), rng)
        places = [placed(fault, len(host), rng) for fault in faults]
        if None in places:
            continue
        levels = [float(rng.uniform(0.0, 0.5)) + 0.5 * (turn % 2) for _ in faults]
        windows = []
        for fault, place, level in zip(faults, places, levels, strict=True):
            row, ramp, weight = place  # type: ignore[misc]
            fault.inject(host, weight, level, rng)
            last = row + ramp + fault.lag + waited(fault, host)
            windows.append((row, min(last, len(host) - 1)))
        finished(host)
        options = [name for name in WRITERS if all(_shown(fault, host, name) for fault in faults)]
        if not options:
            continue
        names = tuple(fault.name for fault in faults)
        onsets = tuple((host.steps[first], host.steps[last]) for first, last in windows)
        with_config = bool(rng.random() < 0.4) or any(fault.told for fault in faults)
        dialect, gross = str(rng.choice(options)), bool(turn % 2)
        name = f"{'+'.join(names)}-{turn}"
        return Item(name, host, dialect, with_config, host_name, names, onsets, gross, key=KEY)


def placed(fault: Placed, steps: int, rng: np.random.Generator) -> tuple[int, int, np.ndarray] | None:
    """First row, rows until the full size, and the weight over all rows; nothing where the run is too short."""
    place = str(rng.choice(fault.onsets.split()))
    row = {
        "start": 0,
        "soon": max(fault.before, 3, int(steps * rng.uniform(0.08, 0.25))),
        "middle": max(fault.before, int(steps * rng.uniform(0.3, 0.6))),
        "late": max(fault.before, steps - fault.lasts - int(rng.integers(0, 4))),
        "end": steps - 1,
    }[place]
    if row + fault.lasts > steps or (place == "late" and row < 0.6 * steps):
        return None
    room = steps - row - fault.lasts
    slow = fault.drifts and place in ("soon", "middle") and room > 15 and rng.random() < 0.5
    ramp = min(room, int(steps * rng.uniform(0.12, 0.3))) if slow else 1
    weight = np.clip((np.arange(steps) - row + 1) / ramp, 0.0, 1.0)
    if fault.recovers and steps - row - ramp > 30 and rng.random() < 0.4:
        weight[row + ramp + int(0.6 * (steps - row - ramp)) :] *= 0.5
    return row, ramp, weight


def waited(fault: Placed, host: Host) -> int:
    """Two validations, for what only they can show."""
    if not any(shown.startswith("val-core/") for shown in fault.shows) or not host.validation:
        return 0
    seen = np.flatnonzero(~np.isnan(host[host.validation]))
    return int(2 * np.median(np.diff(seen))) if len(seen) > 2 else len(host)


def _shown(fault: Fault, host: Host, dialect: str) -> bool:
    if not _fits(host, dialect) or (fault.only and dialect not in fault.only):
        return False
    if (not fault.coarse and dialect == "old-console") or (fault.told and dialect not in CONFIGURED):
        return False
    if fault.name.startswith("nan_") and dialect == "csv":  # a table leaves the cell empty
        return False
    held = kept(host, dialect)
    return all(any(name.startswith(one) for one, name in product(shown.split("|"), held)) for shown in fault.shows)
