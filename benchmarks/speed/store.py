"""Rounds as they were timed, a JSON line each: a run that is cut keeps what it measured, the next one goes on there.

Only rounds of the same klinic count: where its code, cards or compiled part changed, a method is timed anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

FILE = Path("build/bench/results.jsonl")


@dataclass(frozen=True)
class Figures:
    """What a method costs. cpu, wall: seconds. peak: MB. total: sum of the numbers read, None where it says none.

    problem: why there are no figures.
    """

    method: str
    cpu: float = 0.0
    wall: float = 0.0
    peak: float = 0.0
    total: float | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Round(Figures):
    """One round of a method. megabytes: of the file. code: of klinic. load: of the machine, before. day: ISO."""

    work: str
    steps: int
    megabytes: float
    code: str = ""
    load: float = 0.0
    day: str = ""
    machine: str = ""


class Store:
    """What was timed so far. code: of the klinic that is timed now."""

    def __init__(self, file: Path, code: str = "") -> None:
        self._file, self.code = file, code
        self.rounds = list(_read(file))

    def done(self, work: str, steps: int, method: str) -> list[Round]:
        """The rounds of a method that count."""
        wanted = work, steps, method, self.code
        return [one for one in self.rounds if (one.work, one.steps, one.method, one.code) == wanted]

    def add(self, one: Round) -> None:
        """Keep a round, at once."""
        self.rounds.append(one)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as out:
            out.write(msgspec.json.encode(one) + b"\n")

    def forget(self, word: str) -> None:
        """Forget the rounds of works whose name holds a word."""
        self.rounds = [one for one in self.rounds if word not in one.work]
        if self._file.exists():
            self._file.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in self.rounds))


def _read(file: Path) -> list[Round]:
    """The rounds of a file; a line that was cut, or is of another make, is none."""
    found = []
    for line in file.read_bytes().splitlines() if file.exists() else ():
        try:
            found.append(msgspec.json.decode(line, type=Round))
        except msgspec.DecodeError:
            continue
    return found
