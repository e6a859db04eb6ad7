"""What every report is: a function of an entry point in `klinic.reports` that turns judged runs into text.

    def render(judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> str

A report that is no text (an image) returns bytes instead. `color` is true only where the text goes to a terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.run import Run

REPORTS = "klinic.reports"


@dataclass(frozen=True)
class Judged:
    """A run and its diagnosis."""

    run: Run
    diagnosis: Diagnosis


class Report(Protocol):
    """A report format."""

    def __call__(self, judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> str | bytes:
        """The report of one run or of several, in the order given."""


def formats() -> dict[str, EntryPoint]:
    """Name -> entry point of every report format that is installed; nothing is imported."""
    return {entry.name: entry for entry in sorted(entry_points(group=REPORTS), key=lambda entry: entry.name)}


def load(name: str) -> Report:
    """Import one report format; KeyError where there is none of that name."""
    report: Report = formats()[name].load()
    return report
