"""Examine the diagnosis: faults injected into healthy recordings, and healthy runs under stress.

    .venv/bin/python benchmarks/exam.py [--paper 2] [--each 6] [--pairs 2] [--calm 4] [--show]
    .venv/bin/python benchmarks/exam.py --only truncation --show
    .venv/bin/python benchmarks/exam.py --peer PATH/TO/rl-doctor

docs/accuracy.md says what is simulated. --paper 1: the carriers and magnitudes on which cards were mended; 2, 3:
others; 4: worlds, faults, sizes and loggers of its own, and real logs (at most three items
a fault or pair, four a healthy kind); 5: runs lived step by step from causes, in other worlds and loggers.
--each, --pairs, --calm: items a fault, a pair of faults, a kind of healthy run. --skip: leave out the first items of
each, which somebody has looked at. --show: every miss. --out: a line of JSON an item. --peer: rl-doctor (PyPI rldoctor)
answers the same items, as JSON lines.
"""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from exams import scoring
from exams.fifth import plan as fifth
from exams.fourth import plan as fourth
from exams.fourth import real
from exams.marking import as_json, marked
from exams.plan import PAPERS, Item, items


def main() -> int:
    asked = _arguments()
    chosen = [item for item in _drawn(asked) if asked.only in item.name and _turn(item) >= asked.skip]
    with ProcessPoolExecutor(asked.jobs) as pool, asked.out.open("w") if asked.out else nullcontext() as out:
        marks = []
        for mark in pool.map(partial(marked, peer=asked.peer), chosen):
            marks.append(mark)
            print(as_json(mark), file=out, flush=True) if out else None
    for lines in (scoring.summary, scoring.calibration, scoring.by_fault, *([scoring.misses] if asked.show else [])):
        print("\n".join(lines(marks)), end="\n\n")
    if asked.paper == 4 and not asked.only:
        print("\n".join(real.lines(real.verdicts(asked.jobs), asked.show)))
    return 0


def _drawn(asked: argparse.Namespace) -> Iterator[Item]:
    counts = (asked.each, asked.pairs, asked.calm)
    own = {4: fourth, 5: fifth}.get(asked.paper)
    return own.items(*counts) if own else items(PAPERS[asked.paper], *counts)


def _turn(item: Item) -> int:
    """Which item of its fault, pair or kind it is, from 0."""
    return int(item.name.rpartition("-")[2])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paper", type=int, choices=[*sorted(PAPERS), 4, 5], default=2)
    for name, count in (("each", 6), ("pairs", 2), ("calm", 4), ("skip", 0), ("jobs", 2)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--only", default="", help="items whose name holds this")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--peer", default="", metavar="COMMAND")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
