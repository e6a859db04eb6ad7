"""CPU milliseconds of one new step of a run that is followed, and its backlog beside the offline judgement.

    python benchmarks/following.py [STEPS ...]     (1000, 10000 and 100000 where none is given)

The whole way is timed: bytes, reader, run, all cards, vital signs, incidents, diagnosis. Two recordings of 110 metrics
each: verl's JSONL, and a run directory whose console speaks of trouble in thousands of wordings.
"""

from __future__ import annotations

import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import orjson

from klinic.diagnostics.engine.compiled import compiled
from klinic.diagnostics.engine.diagnose import diagnose, installed_cards
from klinic.diagnostics.live.watcher import Watcher
from klinic.diagnostics.readers import open_runs

METRICS, SEED, NEW, EVENTS_EVERY = 110, 7, 40, 50
TROUBLE = "worker {}: connection to node {} timed out in stage {}, could not fetch shard, retrying"
LAUNCH = {"schema": 1, "id": "benchmark", "status": "running", "config": {"data.train_batch_size": 256}}


class Recording:
    """A run in which every metric falls slowly, with noise, so that most cards have something to do."""

    def __init__(self, folder: Path, *, directory: bool) -> None:
        from judging import names

        self.path = folder if directory else folder / "verl.jsonl"
        self._metrics = (folder / "metrics.jsonl" if directory else self.path).open("ab")
        self._console = (folder / "console.log").open("ab") if directory else None
        self._events = (folder / "events.jsonl").open("ab") if directory else None
        if directory:
            (folder / "run.json").write_bytes(orjson.dumps(LAUNCH))
        self._names, self._luck = names(METRICS), np.random.default_rng(SEED)
        self._level, self._step = np.geomspace(1e-4, 1e3, METRICS), 0

    def grow(self, steps: int) -> None:
        """Write steps, and what the console says between them."""
        for step in range(self._step + 1, self._step + 1 + steps):
            self._step = step
            values = self._level * (1 + 0.3 * np.exp(-self._step / 2000) + self._luck.normal(0, 0.05, METRICS))
            data = dict(zip(self._names, values.tolist(), strict=True))
            self._metrics.write(orjson.dumps({"step": self._step, "time": 1.7e9 + self._step, "data": data}) + b"\n")
            self._tell()
        for file in (self._metrics, self._console, self._events):
            if file is not None:
                file.flush()

    def _tell(self) -> None:
        if self._console is None or self._events is None:
            return
        word = np.base_repr(self._step % 3000, 36).translate(str.maketrans("0123456789", "ghijklmnop"))
        self._console.write((TROUBLE.format(word, self._step, word) + "\n").encode())
        if self._step % EVENTS_EVERY == 0:
            event = {"kind": "validation", "step": self._step, "time": 1.7e9 + self._step}
            self._events.write(orjson.dumps(event) + b"\n")


def timed(what: object) -> float:
    started = time.process_time()
    what()  # type: ignore[operator]
    return time.process_time() - started


def offline(path: Path) -> None:
    (run,) = open_runs(str(path))
    diagnose(run)


def measure(folder: Path, steps: int, *, directory: bool) -> str:
    """A line of the table."""
    recording = Recording(folder, directory=directory)
    recording.grow(steps)
    judged = timed(lambda: offline(recording.path))
    watcher = Watcher(recording.path)
    backlog, each = timed(watcher.tick), []
    held = _resident()
    for _ in range(NEW):
        recording.grow(1)
        each.append(1000 * timed(watcher.tick))
    grown = _resident() - held
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    kind = "run directory" if directory else "JSONL"
    return (
        f"| {kind} | {steps:,} | {statistics.median(each):.1f} ms | {max(each):.1f} ms | {backlog / judged:.2f}"
        f" | {most:.0f} MB | {grown:+.0f} MB |"
    )


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        gc.set_threshold(200_000, 20, 20)  # as the commands have it
        for card in installed_cards():
            if card.kind != "incident":
                compiled(card)
        with tempfile.TemporaryDirectory() as folder:
            print(measure(Path(folder), int(sys.argv[2]), directory=sys.argv[3] == "directory"), flush=True)
        return
    print("| recording | steps | one new step, median | worst of 40 | backlog, of offline | memory | over 40 steps |")
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for steps in [int(word) for word in sys.argv[1:]] or [1000, 10_000, 100_000]:
        for kind in ("file", "directory"):  # each in a process of its own: memory is measured at its highest
            subprocess.run([sys.executable, __file__, "--one", str(steps), kind], check=True, timeout=1800)


if __name__ == "__main__":
    main()
