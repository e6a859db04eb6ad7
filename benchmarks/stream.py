"""What one step of logging costs: klinic's stream beside verl's file logger, TensorBoard and wandb offline.

    python benchmarks/stream.py [--steps N] [--metrics N]

All writers get the same metrics in the same process, step by step in turn, so that a busy machine slows all alike.
Prints median and 99th percentile in milliseconds a step and the bytes on disk; exits with 1 where klinic's median
is 1 ms or more.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

Log = Callable[[Mapping[str, float], int], None]
Close = Callable[[], None]
LIMIT_MS = 1.0


def names(count: int) -> list[str]:
    """Metric names of verl's shape and length."""
    parts = ("actor", "critic", "response_length", "timing_s", "timing_per_token_ms", "perf", "training")
    return [f"{parts[i % len(parts)]}/metric_{i:03d}/mean" for i in range(count)]


def klinic(folder: Path) -> tuple[Log, Close]:
    from klinic.trainer.stream import RunDirectory

    run = RunDirectory.create(folder)
    return (lambda data, step: run.write_step(step, data)), lambda: run.finish("finished")


def file(folder: Path) -> tuple[Log, Close]:
    os.environ["VERL_FILE_LOGGER_PATH"] = str(folder / "verl.jsonl")
    from verl.utils.tracking import FileLogger

    logger = FileLogger("project", "experiment")
    return (lambda data, step: logger.log(data, step)), logger.finish


def tensorboard(folder: Path) -> tuple[Log, Close]:
    os.environ["TENSORBOARD_DIR"] = str(folder)
    from verl.utils.tracking import _TensorboardAdapter

    logger = _TensorboardAdapter("project", "experiment")
    return (lambda data, step: logger.log(data, step)), logger.finish


def wandb(folder: Path) -> tuple[Log, Close]:
    import wandb

    run = wandb.init(project="p", name="e", dir=str(folder), mode="offline", settings=wandb.Settings(silent=True))
    return (lambda data, step: run.log(dict(data), step=step)), run.finish


WRITERS = {
    "klinic": klinic,
    "verl file": file,
    "tensorboard": tensorboard,
    "wandb offline": wandb,
}


def measure(steps: int, metrics: int, root: Path) -> Iterator[tuple[str, list[float], int]]:
    """Milliseconds of each step and bytes written, a writer at a time in name order but step by step in turn."""
    opened = {}
    for name, open_ in WRITERS.items():
        folder = root / name.replace(" ", "-")
        folder.mkdir()
        opened[name] = (*open_(folder), folder)
    rng = random.Random(0)
    keys = names(metrics)
    spent: dict[str, list[float]] = {name: [] for name in opened}
    for step in range(1, steps + 1):
        data = {key: rng.gauss(0, 1) for key in keys}
        for name, (log, _, _) in opened.items():
            begun = time.perf_counter()
            log(data, step)
            spent[name].append((time.perf_counter() - begun) * 1000)
    for name, (_, close, folder) in opened.items():
        close()
        yield name, spent[name], sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def main() -> int:
    """Run the benchmark and print a table."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    options.add_argument("--steps", type=int, default=500)
    options.add_argument("--metrics", type=int, default=120)
    wanted = options.parse_args()
    with tempfile.TemporaryDirectory() as root:
        found = list(measure(wanted.steps, wanted.metrics, Path(root)))
    print(f"{wanted.metrics} metrics a step, {wanted.steps} steps")
    print(f"{'writer':15} {'median ms':>10} {'p99 ms':>10} {'bytes a step':>13}")
    for name, spent, size in found:
        p99 = statistics.quantiles(spent, n=100)[98]
        print(f"{name:15} {statistics.median(spent):10.3f} {p99:10.3f} {size / wanted.steps:13.0f}")
    return int(statistics.median(found[0][1]) >= LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
