"""klinic's speed beside others': `python -m benchmarks.speed [--full] [--rounds N] [--steps N] [--only WORD]`.

Prints one table of medians. The quick run (2,000 steps, what is installed already) ends within four minutes; --full
makes an environment for each program of others below build/bench, and files of 10,000 steps, the console of 100,000,
and ends within half an hour; --minutes gives either another time. stderr says what is waited for.
Compare CPU seconds: wall seconds tell what else the machine was doing, and so does the load that is printed.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

from benchmarks.speed.data import prepared
from benchmarks.speed.measure import Result, measured
from benchmarks.speed.methods import LEFT_OUT, SECTIONS, Method
from benchmarks.speed.wait import Wait, said

FOLDER = Path("build/bench/data")
QUICK, FULL, LONG = 2_000, 10_000, 100_000
QUICK_MINUTES, FULL_MINUTES = 4, 30
HEADER = "| work | method | CPU s | wall s | peak MB | CPU, klinic = 1 |\n|---|---|---:|---:|---:|---:|"


def chosen(methods: tuple[Method, ...], *, full: bool) -> tuple[Method, ...]:
    """The methods of a run: the quick one makes no environments."""
    return tuple(method for method in methods if full or not (method.needs or method.once or method.full))


def lines(work: str, results: list[Result]) -> list[str]:
    """Rows of the table. A sum that differs from klinic's is told: the two did not read the same."""
    base = next((result for result in results if not result.problem), None)
    rows = []
    for result in results:
        if result.problem or base is None:
            rows.append(f"| {work} | {result.method} | {result.problem} | | | |")
            continue
        remark = "" if agrees(base, result) else " (another sum)"
        ratio = result.cpu / base.cpu if base.cpu else float("nan")
        figures = f"{result.cpu:.3g} | {result.wall:.3g} | {result.peak:.0f} | {ratio:.2f}"
        rows.append(f"| {work} | {result.method}{remark} | {figures} |")
    return rows


def agrees(base: Result, result: Result) -> bool:
    """Whether two methods read the same numbers, as far as both say what they read."""
    if not base.total or not result.total:
        return True
    return abs(base.total - result.total) <= 1e-5 * abs(base.total)


def machine() -> str:
    """Where and when this was measured, in a line."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, load {load}"


def _one(work: str, kind: str, steps: int, methods: tuple[Method, ...], rounds: int, wait: Wait) -> None:
    """Time one kind of work, its file made before, and print its rows."""
    try:
        path = prepared(FOLDER, kind, steps, wait.begin(f"a {kind} file of {steps:,} steps"))
    except (OSError, subprocess.SubprocessError) as error:
        print(f"| {work} | | no file: {said(error)} | | | |", flush=True)
        return
    size = (path if path.is_file() else next(path.iterdir())).stat().st_size / 1e6
    print(
        "\n".join(lines(f"{work}, {steps:,} steps, {size:.0f} MB", measured(methods, path, rounds, wait))), flush=True
    )
    for name, why in LEFT_OUT.get(work, {}).items():
        print(f"| {work} | {name} | {why} | | | |", flush=True)


def main() -> int:
    """Make the files, time, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="programs of others, and long files")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--steps", type=int, help="of each file")
    parser.add_argument("--only", default="", help="works whose name holds this word")
    parser.add_argument("--minutes", type=float, help="after these nothing more is begun")
    wanted = parser.parse_args()
    rounds = wanted.rounds or (3 if wanted.full else 1)
    wait = Wait(wanted.minutes or (FULL_MINUTES if wanted.full else QUICK_MINUTES))
    print(f"{machine()}; medians of {rounds}\n\n{HEADER}", flush=True)
    for work, (kind, share, methods) in SECTIONS.items():
        if wanted.only in work:
            usual = (LONG if kind == "console" else FULL) if wanted.full else QUICK
            steps = int((wanted.steps or usual) * share)
            _one(work, kind, steps, chosen(methods, full=wanted.full), rounds, wait)
    print(f"\n{machine()} at the end")
    return 0


if __name__ == "__main__":
    sys.exit(main())
