"""Formats of preflight's report: text and json of its own, the others from the registry of all reports."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from klinic.diagnostics.language import tr
from klinic.diagnostics.preflight.model import Report
from klinic.diagnostics.preflight.words import plural
from klinic.diagnostics.report.base import SHEETS
from klinic.diagnostics.report.base import load as registered

OWN = ("text", "json")


class Format(Protocol):
    """A format of the report."""

    def __call__(self, report: Report, *, color: bool = False) -> str:
        """The report as text, ending with a line end."""


def load(name: str) -> Format:
    """The format of this name; KeyError where there is none."""
    if name in OWN:
        render: Format = import_module(f"{__name__}.{name}").render
        return render
    return lambda report, *, color=False: str(registered(name, SHEETS)([report]))


def counted(report: Report) -> str:
    """`2 errors, 1 warning`, or `nothing found`."""
    words: Sequence[tuple[int, str]] = ((3, "error"), (2, "warning"), (1, "remark"))
    counts = [(sum(one.severity == level for one in report.found), word) for level, word in words]
    said = [plural(count, word) for count, word in counts if count]
    return tr(", ").join(said) or tr("nothing found")
