"""Seconds to the end of step 1 and of step 40 of `klinic train` as a newcomer runs it, and where the CPU seconds go.

    python benchmarks/first_run.py [STEPS] [KEY=VALUE ...]

Everything is new: run directory, cache (problems are made), Python's byte code is as the installation left it. Says how
busy other programs kept the machine meanwhile: on the clock only a quiet machine counts. CPU seconds are read from
/proc of every process that inherits a mark from here, twice a second; what a process used after the last look is lost.
Needs Linux.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
MARK = "KLINIC_FIRST_RUN"
PAUSE = 0.5
LIMIT = 1800.0  # seconds after which the run is given up
WANTED = {1: 90.0, 40: 240.0}


def processes() -> set[int]:
    """Ids of all living processes."""
    return {int(each.name) for each in os.scandir("/proc") if each.name.isdigit()}


def machine() -> tuple[float, float]:
    """(busy, all) CPU seconds of the machine since it booted."""
    numbers = [int(each) / TICK for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(numbers) - numbers[3] - numbers[4], sum(numbers)


KINDS = (  # words of a command line, and what it is; the first that fits
    ("main_ppo", "verl's driver"),
    ("trainer.plugin import check", "check of the plugin"),
    ("klinic train", "klinic train"),
    ("gcs_server", "gcs_server"),
    ("raylet/raylet", "raylet"),
    ("log_monitor.py", "log_monitor"),
    ("dashboard", "dashboard"),
)


def title(pid: int, words: str) -> str:
    """What a process is, from its command line; Ray names its actors there."""
    ray = re.search(r"ray::([\w.]+)", words)
    if ray:
        return ray.group(1).partition(".")[0]
    return next((kind for part, kind in KINDS if part in words), words.rpartition("/")[2][:30] or str(pid))


class Family:
    """CPU seconds of every process that carries the mark, the ended ones included."""

    def __init__(self, mark: str) -> None:
        self.mark = f"{MARK}={mark}".encode()
        self.known: dict[int, bool] = {}
        self.seconds: dict[int, float] = {}
        self.titles: dict[int, str] = {}

    def look(self) -> None:
        """Read the kernel's accounts anew."""
        for pid in processes():
            try:
                if self._ours(pid):
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    self.seconds[pid] = (int(fields[11]) + int(fields[12])) / TICK
                    words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if words.strip():  # an ended process has none any more
                        self.titles[pid] = title(pid, words)
            except OSError:
                continue

    def _ours(self, pid: int) -> bool:
        if pid not in self.known:
            self.known[pid] = self.mark in Path(f"/proc/{pid}/environ").read_bytes()
        return self.known[pid]

    def by_title(self) -> dict[str, float]:
        """CPU seconds by kind of process."""
        total: dict[str, float] = defaultdict(float)
        for pid, seconds in self.seconds.items():
            total[self.titles.get(pid, str(pid))] += seconds
        return dict(total)


def steps_of(file: Path, position: list[int]) -> Iterator[int]:
    """Steps of the lines that have come since the last call."""
    if not file.exists():
        return
    with file.open() as lines:
        lines.seek(position[0])
        while (line := lines.readline()).endswith("\n"):
            position[0] = lines.tell()
            record = json.loads(line)
            if any(name.startswith("critic/score") for name in record.get("data", record)):
                yield int(record["step"])


def watch(process: subprocess.Popen[bytes], family: Family, run: Path) -> dict[int, tuple[float, dict[str, float]]]:
    """(seconds since the start, CPU seconds by kind) at the end of each step; key 0 is the end."""
    begun, position, seen = time.monotonic(), [0], {}
    while process.poll() is None and time.monotonic() - begun < LIMIT:
        time.sleep(PAUSE)
        family.look()
        for step in steps_of(run / "metrics.jsonl", position):
            seen[step] = time.monotonic() - begun, family.by_title()
    seen[0] = time.monotonic() - begun, family.by_title()
    return seen


def table(seen: dict[int, tuple[float, dict[str, float]]]) -> None:
    """CPU seconds by kind of process: until step 1, a step, in all."""
    first, last = min(set(seen) - {0}), max(seen)
    names = sorted(seen[0][1], key=lambda name: -seen[0][1][name])
    print(f"\n{'CPU seconds':32} {f'to step {first}':>12} {'a step':>8} {'in all':>8}")
    for name in [*names, "all"]:
        early, late, end = (
            sum(one.values()) if name == "all" else one.get(name, 0.0)
            for one in (seen[each][1] for each in (first, last, 0))
        )
        if end >= 0.2:
            print(f"{name:32} {early:12.1f} {(late - early) / max(1, last - first):8.2f} {end:8.1f}")


def main() -> None:
    words = sys.argv[1:]
    steps = int(words.pop(0)) if words and words[0].isdigit() else 40
    with tempfile.TemporaryDirectory(prefix="klinic-first-run-") as folder:
        mark, run = uuid.uuid4().hex, Path(folder) / "run"
        command = [str(Path(sys.executable).with_name("klinic")), "train", "--run-dir", str(run)]
        command += [f"trainer.total_training_steps={steps}", *words]
        environment = {**os.environ, MARK: mark, "XDG_CACHE_HOME": str(Path(folder) / "cache")}
        family, before = Family(mark), machine()
        process = subprocess.Popen(command, env=environment, cwd=folder)
        try:
            seen = watch(process, family, run)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        busy, available = (after - earlier for after, earlier in zip(machine(), before, strict=True))
        ours = sum(seen[0][1].values())
        print()
        for step, wanted in WANTED.items():
            if step in seen:
                print(f"end of step {step}: {seen[step][0]:.0f} s, wanted: under {wanted:.0f} s")
        print(
            f"of the machine's {available:.0f} CPU seconds the run used {ours:.0f}, others {max(0.0, busy - ours):.0f}"
        )
        table(seen)
    raise SystemExit(process.returncode)


if __name__ == "__main__":
    main()
