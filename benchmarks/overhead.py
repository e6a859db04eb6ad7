"""What klinic costs a step of a real run: in the trainer's process, and in the one that attends and judges.

    .venv/bin/python benchmarks/overhead.py RECIPE [KEY=VALUE ...] [-- --stop-on error:3]

Runs `klinic train` on the recipe and times klinic's calls in the trainer's process (benchmarks/timers). A step waits
for its line of metrics, and for events and samples where it validates. Not waited for: the heartbeat's thread, and
`klinic train` itself, which attends and judges; its CPU seconds are taken from the first step to the last.
Exits with 1 where a step waits longer than the goal, 0.1 % of its time.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TIMERS = Path(__file__).parent / "timers"
WAITED = ("log", "event", "sample")
GOAL = 0.1  # per cent of a step
PAUSE = 2.0


def steps(run: Path) -> list[float]:
    """Seconds of each step of training."""
    file = run / "metrics.jsonl"
    rows = [json.loads(line)["data"] for line in file.read_text().splitlines()] if file.exists() else []
    return [float(row["timing_s/step"]) for row in rows if "timing_s/step" in row]


def cpu_of(pid: int) -> float:
    """CPU seconds of a process, its children not counted."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def train(words: list[str], run: Path, timed: Path) -> float:
    """Run it to its end; gives the per cent of a core that `klinic train` took while it trained."""
    path = os.pathsep.join(filter(None, (str(TIMERS), os.environ.get("PYTHONPATH"))))
    klinic = str(Path(sys.executable).with_name("klinic"))
    command = [klinic, "train", "--run-dir", str(run), "--recipe", *words]
    seen: list[tuple[float, float]] = []
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path, "KLINIC_OVERHEAD": str(timed)}) as launch:
        while launch.poll() is None:
            if steps(run):
                seen.append((time.monotonic(), cpu_of(launch.pid)))
            time.sleep(PAUSE)
    if launch.returncode or len(seen) < 2:
        raise SystemExit(launch.returncode or "too few steps to say anything")
    (wall, cpu), (wall_end, cpu_end) = seen[0], seen[-1]
    return 100 * (cpu_end - cpu) / (wall_end - wall)


def report(run: Path, timed: Path, attending: float) -> float:
    """Print it; gives what a step waits for in per cent of it."""
    seconds = steps(run)
    calls: dict[str, list[tuple[float, float]]] = {}
    for name, wall, cpu in map(str.split, timed.read_text().splitlines()):
        calls.setdefault(name, []).append((float(wall), float(cpu)))
    print(f"{len(seconds)} steps, median {statistics.median(seconds):.2f} s")
    for name, found in sorted(calls.items()):
        walls, cpus = zip(*found, strict=True)
        print(f"{name:<10} {len(found):>5} calls, median {1e3 * statistics.median(walls):.3f} ms wall,", end=" ")
        print(f"{1e3 * statistics.median(cpus):.3f} ms CPU")
    waited = 100 * sum(wall for name in WAITED for wall, _ in calls.get(name, [])) / sum(seconds)
    beat = 100 * sum(cpu for _, cpu in calls.get("heartbeat", [])) / sum(seconds)
    print(f"a step waits {waited:.4f} % of its time; the heartbeat's thread takes {beat:.4f} % of a core")
    print(f"attending and judging: {attending:.2f} % of one core, in another process")
    return waited


def main() -> None:
    """RECIPE and what else `klinic train` is given."""
    with tempfile.TemporaryDirectory() as folder:
        run, timed = Path(folder) / "run", Path(folder) / "timed.txt"
        words = [word for word in sys.argv[1:] if word != "--"]
        attending = train([*words, "trainer.save_freq=-1"], run, timed)
        raise SystemExit(int(report(run, timed, attending) > GOAL))


if __name__ == "__main__":
    main()
