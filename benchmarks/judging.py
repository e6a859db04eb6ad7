"""CPU seconds and memory of judging long runs: at once, and step by step as they grow.

    python benchmarks/judging.py [STEPS ...]     (10000 where none is given)

Each figure stands beside that of reading the same file, which no judge can do without. All cards judge.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import orjson

from klinic.diagnostics.engine.compiled import compiled
from klinic.diagnostics.engine.diagnose import diagnose, installed_cards
from klinic.diagnostics.engine.monitor import Monitor
from klinic.diagnostics.knowledge.metrics import known_patterns, spread
from klinic.diagnostics.readers import open_runs
from klinic.diagnostics.run import Run

METRICS, SEED, NEW = 110, 7, 30


def names(count: int) -> list[str]:
    """verl's metrics, made-up ones after them."""
    known = [name for pattern in known_patterns() for name in spread(pattern) if not set("<>*") & set(name)]
    found = list(dict.fromkeys(known))[:count]
    return [*found, *(f"custom/metric_{number}" for number in range(count - len(found)))]


def written(folder: Path, steps: int, metrics: int) -> Path:
    """verl's JSONL of a run in which every metric falls slowly, with noise: most cards have something to do."""
    luck, columns = np.random.default_rng(SEED), names(metrics)
    level, path = np.geomspace(1e-4, 1e3, metrics), folder / f"{steps}x{metrics}.jsonl"
    with path.open("wb") as file:
        for step in range(1, steps + 1):
            values = level * (1 + 0.3 * np.exp(-step / 2000) + luck.normal(0, 0.05, metrics))
            record = {"step": step, "data": dict(zip(columns, values.tolist(), strict=True))}
            file.write(orjson.dumps(record) + b"\n")
    return path


def seconds(started: float) -> float:
    return time.process_time() - started


def growing(run: Run) -> tuple[float, float]:
    """CPU seconds of the backlog, and the median of one new step."""
    monitor, height = Monitor(), run.frame.height
    started = time.process_time()
    monitor.diagnose(run.head(height - NEW))
    backlog, each = seconds(started), []
    for rows in range(height - NEW + 1, height + 1):
        state = run.head(rows)
        started = time.process_time()
        monitor.diagnose(state)
        each.append(seconds(started))
    return backlog, statistics.median(each)


def measure(path: Path, steps: int, metrics: int) -> None:
    started = time.process_time()
    (run,) = open_runs(str(path))
    read, started = seconds(started), time.process_time()
    diagnose(run)
    judged = seconds(started)
    backlog, step = growing(run)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(
        f"{steps:7} steps x {metrics:4} metrics: read {read:6.2f} s, judged {judged:6.2f} s"
        f" ({1e6 * judged / steps:5.0f} us a step), backlog {backlog / judged:4.2f} x that,"
        f" one new step {1000 * step:5.1f} ms, at most {memory:5.0f} MB",
        flush=True,
    )


def main() -> None:
    for card in installed_cards():
        if card.kind != "incident":
            compiled(card)
    with tempfile.TemporaryDirectory() as folder:
        for steps in [int(word) for word in sys.argv[1:]] or [10_000]:
            measure(written(Path(folder), steps, METRICS), steps, METRICS)
        measure(written(Path(folder), 1000, 1000), 1000, 1000)


if __name__ == "__main__":
    main()
