"""A sheet: what was looked at in one run or launch, and what came of each; what CI formats are written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.language import tr

# unsure: could not be judged; remark: seen, no reason to fail; skipped: not judged, or accepted by a person.
Status = Literal["failed", "unsure", "passed", "remark", "skipped"]
ORDER: tuple[Status, ...] = ("unsure", "failed", "passed", "remark", "skipped")
CODES = {"unsure": 2, "failed": 1}


@dataclass(frozen=True)
class Spot:
    """Where something stands; line and column from 1, 0 where unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return ":".join([self.file, *(str(number) for number in (self.line, self.column) if number)])


@dataclass(frozen=True)
class Item:
    """One thing that was looked at.

    kind: requirement, steps, key, finding, incident, rules, metric, config, reading. id: a rule's id, else the kind in
    capitals. name: a rule's name, or what was asked in words. accepted: why a person accepted it, else empty.
    """

    kind: str
    id: str
    name: str
    status: Status
    message: str = ""
    severity: Severity = Severity.ERROR
    spot: Spot | None = None
    advice: str = ""
    accepted: str = ""

    @property
    def of_a_rule(self) -> bool:
        """Whether a rule says it; else it was asked of the run."""
        return self.kind in ("finding", "incident")

    @property
    def topic(self) -> str:
        """A rule's name; for what is asked of a run its kind, so that code hosts can follow it over changes."""
        return self.name if self.of_a_rule else self.kind

    @property
    def title(self) -> str:
        """`kl-ref-drift (KL03), warn`, or what was asked."""
        return tr("{}, {}", f"{self.name} ({self.id})", tr(str(self.severity))) if self.of_a_rule else self.name

    @property
    def sentence(self) -> str:
        """What came of it, with the advice; what was asked stands before it."""
        said = self.message if self.of_a_rule else f"{self.name}: {self.message}"
        return f"{said} {self.advice}" if self.advice else said


@dataclass(frozen=True)
class Sheet:
    """All items of one subject. tool: the command, as in `klinic check`. subject: the path as given.

    folds: kinds of items of which a person is shown those that passed in one line.
    """

    tool: str
    subject: str
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()
    folds: tuple[str, ...] = ()

    def of(self, *wanted: Status) -> list[Item]:
        """The items of a status, in their order."""
        return [item for item in self.items if item.status in wanted]

    @property
    def code(self) -> int:
        """Exit code: 2 something could not be judged, 1 something failed, 0 neither."""
        return max((CODES.get(item.status, 0) for item in self.items), default=0)

    @property
    def word(self) -> str:
        """`passed`, `failed` or `could not judge`."""
        return (tr("passed"), tr("failed"), tr("could not judge"))[self.code]


class Sheeted(Protocol):
    """Whatever can be written as a sheet."""

    def sheet(self) -> Sheet:
        """The sheet of it."""


@dataclass(frozen=True)
class Ready:
    """A sheet that is made already."""

    made: Sheet

    def sheet(self) -> Sheet:
        """The sheet."""
        return self.made


def encodable(text: str) -> str:
    """A text that UTF-8 can hold: a file's name may be no valid text."""
    return text.encode("utf-8", "replace").decode()


def sheets(cases: Sequence[Sheeted]) -> list[Sheet]:
    """The sheets of all cases, in their order."""
    return [case.sheet() for case in cases]
