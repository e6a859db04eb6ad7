"""Reading speed beside others: `python -m benchmarks.speed [--rounds 3] [--steps 10000]`; prints the table of the docs.

Every method runs in a process of its own, in turns (A B C, A B C), and the medians count. Compare CPU seconds: wall
seconds tell what else the machine was doing.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.speed.data import made

FOLDER = Path("build/bench/data")
METHODS = {
    "jsonl": ("floor", "klinic", "polars"),
    "console": ("floor", "klinic", "ripgrep"),
    "tensorboard": ("floor", "klinic", "rustboard", "event_accumulator"),
    "wandb": ("floor", "klinic"),
}


def once(method: str, path: Path) -> list[float]:
    """(CPU seconds, wall seconds, peak MB) of one run."""
    command = [sys.executable, "-m", "benchmarks.speed.readers", method, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return [float(word) for word in done.stdout.split()[:3]]


def main() -> None:
    """Make the files, time, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--kinds", default=",".join(METHODS))
    wanted = parser.parse_args()
    print("| file | method | CPU s | wall s | peak MB | CPU, klinic = 1 |\n|---|---|---:|---:|---:|---:|")
    for kind in wanted.kinds.split(","):
        path = made(FOLDER, kind, wanted.steps)
        size = (path if path.is_file() else next(path.iterdir())).stat().st_size / 1e6
        found: dict[str, list[list[float]]] = {method: [] for method in METHODS[kind]}
        for _ in range(wanted.rounds):
            for method, results in found.items():
                if not results or method != "event_accumulator":  # half a minute each
                    results.append(once(method, path))
        ours = statistics.median(result[0] for result in found["klinic"])
        for method, results in found.items():
            cpu, wall, peak = (statistics.median(column) for column in zip(*results, strict=True))
            print(f"| {kind}, {size:.0f} MB | {method} | {cpu:.2f} | {wall:.2f} | {peak:.0f} | {cpu / ours:.2f} |")


if __name__ == "__main__":
    main()
