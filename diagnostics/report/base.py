"""What every report is: a function of an entry point in `klinic.reports` that turns judged runs into text.

    def render(judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> str

A report that is no text (an image) returns bytes instead. `color` is true only where the text goes to a terminal.
A module that draws curves says `WANTS_ROWS = True`; others may be given runs in outline (diagnostics/survey).
Formats for CI take whatever has a `sheet()` (sheet.py): a judged run, a launch, a check, a comparison. The commands
that make sheets only find their formats in the group `klinic.reports.sheets`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Protocol

from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.entries import entry_points
from klinic.diagnostics.run import Outline, Run

if TYPE_CHECKING:
    from klinic.diagnostics.report.sheet import Sheet

REPORTS = "klinic.reports"
SHEETS = "klinic.reports.sheets"


@dataclass(frozen=True)
class Judged:
    """A run, whole or in outline, and its diagnosis."""

    run: Run | Outline
    diagnosis: Diagnosis

    @property
    def whole(self) -> Run:
        """The run with its rows, for a report that wants them."""
        if not isinstance(self.run, Run):
            raise TypeError(f"{self.run.source.path}: only the outline is at hand")
        return self.run

    def sheet(self) -> Sheet:
        """What was found as a sheet, for the formats of CI."""
        from klinic.diagnostics.report.diagnosissheet import sheet_of

        return sheet_of(self.diagnosis, self.run.source.path)


class Report(Protocol):
    """A report format."""

    def __call__(self, judged: Sequence[Any], *, color: bool = False, width: int = 80) -> str | bytes:
        """The report of one run or of several, in the order given."""


def formats(group: str = REPORTS) -> dict[str, EntryPoint]:
    """Name -> entry point of every report format that is installed; nothing is imported."""
    return {entry.name: entry for entry in sorted(entry_points(group=group), key=lambda entry: entry.name)}


def wants_rows(name: str, group: str = REPORTS) -> bool:
    """Whether a report draws from the rows of a run."""
    module = importlib.import_module(formats(group)[name].module)
    return bool(getattr(module, "WANTS_ROWS", False))


def load(name: str, group: str = REPORTS) -> Report:
    """Import one report format; KeyError where there is none of that name."""
    report: Report = formats(group)[name].load()
    return report
