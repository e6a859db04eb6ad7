"""What the dashboard costs on long runs: first figures, a tick, a zoom, memory.

    python benchmarks/dashboard.py [--runs 4] [--steps 100000] [--metrics 12]

Writes runs into a temporary folder and asks the server's own functions; no browser and no socket.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path

import orjson

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.overlay import Named, overlay
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.figures.view import View
from klinic.dashboards.live import fresh
from klinic.dashboards.panels import panels
from klinic.dashboards.store import Shelf

NAMES = (
    "actor/pg_loss", "actor/ppo_kl", "critic/vf_loss", "critic/score/mean", "perf/throughput", "actor/entropy",
    "actor/grad_norm", "actor/pg_clipfrac", "actor/lr", "response_length/mean", "response_length/clip_ratio",
    "critic/vf_explained_var",
)  # fmt: skip


def write(path: Path, steps: int, metrics: int, seed: int) -> None:
    rng = random.Random(seed)
    path.parent.mkdir(parents=True)
    with path.open("w") as out:
        for step in range(1, steps + 1):
            data = {name: round(rng.random() * 0.01 + 0.001, 6) for name in NAMES[:metrics]}
            out.write(json.dumps({"step": step, "data": data}) + "\n")


def timed(act) -> tuple[float, object]:
    began = time.perf_counter()
    result = act()
    return time.perf_counter() - began, result


def measure(shelf: Shelf) -> list[tuple[str, float, str, int]]:
    entries = list(shelf.entries.values())
    scene, charts = entries[0].scene, tuple(Chart(name, (name,)) for name in NAMES)
    assert scene is not None
    rows = scene.run.frame.height
    named = [Named(entry.id, entry.scene) for entry in entries if entry.scene is not None]
    out = []
    for label, act in (
        ("vital signs of one run, first time", lambda: panels()[0].figures(scene, Look())),
        ("vital signs of one run, again", lambda: panels()[0].figures(scene, Look())),
        ("all runs x all metrics overlaid", lambda: [overlay(named, name, Look(), View()) for name in NAMES]),
        ("zoom to a tenth", lambda: panels()[0].figures(scene, Look(), View(rows * 0.4, rows * 0.5))),
    ):
        seconds, made = timed(act)
        out.append((label, seconds * 1000, "ms", len(orjson.dumps(made))))
    shared = entries[0].memory
    before = Scene(scene.run.head(rows - 1), scene.diagnosis, shared)
    _, marks = fresh(before, charts, Look(), View(), rows - 1, {})
    again = Scene(scene.run, scene.diagnosis, shared)
    seconds, (news, _) = timed(lambda: fresh(again, charts, Look(), View(), rows - 1, marks))
    out.append(("tick with one new step, 12 charts", seconds * 1000, "ms", len(orjson.dumps(news))))
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--metrics", type=int, default=12)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for place in range(asked.runs):
            write(Path(folder) / f"run{place}" / "metrics.jsonl", asked.steps, asked.metrics, place)
        shelf = Shelf([folder])
        seconds, _ = timed(shelf.round)
        print(f"{'read and judge all':40} {seconds * 1000:10.0f} ms")
        for label, value, unit, size in measure(shelf):
            print(f"{label:40} {value:10.1f} {unit} {size:10,} bytes")
        print(
            f"{'memory of the process at most':40} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:10.0f} MB"
        )
        shelf.stop()


if __name__ == "__main__":
    main()
