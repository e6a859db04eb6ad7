"""klinic's speed beside others': `python -m benchmarks.speed [--full] [--rounds N] [--only WORD] [--write] ...`.

Prints one table of medians. The quick run (2,000 steps, what is installed already) ends within four minutes; --full
makes an environment for each program of others below build/bench, and files of 10,000 steps, the console of 100,000,
and ends within half an hour; --minutes gives either another time. stderr says what is waited for. Each round is kept in
build/bench/results.jsonl as it ends: a run that was cut goes on where it was, --anew measures again, --write puts the
tables of what is kept into docs/benchmarks.md (`--minutes 0 --write` measures nothing).
Compare CPU seconds: wall seconds tell what else the machine was doing, and so does the load that is printed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.speed.data import PUBLIC_STEPS, prepared
from benchmarks.speed.measure import Work, machine, measured
from benchmarks.speed.methods import SECTIONS, Method
from benchmarks.speed.store import FILE, Store
from benchmarks.speed.table import HEADER, lines, write
from benchmarks.speed.tools import NATIVE, newest
from benchmarks.speed.wait import Wait, said
from klinic.diagnostics.survey.options import JudgeOptions

FOLDER = Path("build/bench/data")
QUICK, FULL, LONG = 2_000, 10_000, 100_000
QUICK_MINUTES, FULL_MINUTES = 4, 30


def chosen(methods: tuple[Method, ...], *, full: bool) -> tuple[Method, ...]:
    """The methods of a run: the quick one makes no environments."""
    return tuple(method for method in methods if full or not (method.needs or method.once or method.full))


def code() -> str:
    """Which klinic is timed: a hash of its code and cards, and when its compiled part changed."""
    return f"{JudgeOptions().fingerprint()[:12]}-{newest(NATIVE):.0f}"


def _one(name: str, kind: str, steps: int, methods: tuple[Method, ...], rounds: int, wait: Wait, store: Store) -> None:
    """Time one kind of work, its file made before, and print its rows."""
    try:
        path = prepared(FOLDER, kind, steps, wait.begin(f"a {kind} file of {steps:,} steps"))
    except (OSError, subprocess.SubprocessError) as error:
        print(f"| {name} | | no file: {said(error)} | | | | | |", flush=True)
        return
    size = (path if path.is_file() else next(path.iterdir())).stat().st_size / 1e6
    found = measured(methods, Work(name, steps, size, path), rounds, wait, store)
    print("\n".join(lines(f"{name}, {steps:,} steps, {size:.0f} MB", found)), flush=True)


def _here() -> str:
    return f"{machine()}, load {', '.join(f'{value:.1f}' for value in os.getloadavg())}"


def main() -> int:
    """Make the files, time, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="programs of others, and long files")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--steps", type=int, help="of each file")
    parser.add_argument("--only", default="", help="works whose name holds this word")
    parser.add_argument("--minutes", type=float, help="after these nothing more is begun")
    parser.add_argument("--anew", action="store_true", help="forget what was measured before, of these works")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    parser.add_argument("--results", type=Path, default=FILE, help="where rounds are kept")
    wanted = parser.parse_args()
    rounds = wanted.rounds or (3 if wanted.full else 1)
    minutes = wanted.minutes if wanted.minutes is not None else FULL_MINUTES if wanted.full else QUICK_MINUTES
    wait, store = Wait(minutes), Store(wanted.results, code())
    if wanted.anew:
        store.forget(wanted.only)
    print(f"{_here()}; medians of {rounds}\n\n{HEADER}", flush=True)
    for name, (kind, share, methods) in SECTIONS.items():
        if wanted.only in name and wait.left():
            usual = (LONG if kind == "console" else FULL) if wanted.full else QUICK
            steps = PUBLIC_STEPS if kind == "public" else int((wanted.steps or usual) * share)
            _one(name, kind, steps, chosen(methods, full=wanted.full), rounds, wait, store)
    print(f"\n{_here()} at the end")
    if wanted.write:
        write({name: [method.name for method in methods] for name, (_, _, methods) in SECTIONS.items()}, store.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
