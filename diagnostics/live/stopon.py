"""When a run is to be stopped: a finding of a severity that has been open for so many steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from klinic.diagnostics.engine.model import Finding, Severity
from klinic.diagnostics.live.look import Look

FORM = "write SEVERITY or SEVERITY:STEPS, as in error:3 or warn:10"


@dataclass(frozen=True)
class StopOn:
    """severity: the least one that counts. steps: how many steps a finding has to stay open at it, 1 for at once."""

    severity: Severity
    steps: int = 1

    @classmethod
    def parse(cls, text: str) -> StopOn:
        """`error`, `error:3`, `warn:10`. Raises ValueError with what to write."""
        hit = re.fullmatch(r"\s*(info|warn|error)\s*(?::\s*(\d{1,6})\s*)?", text, re.IGNORECASE)
        if hit is None or (hit[2] is not None and int(hit[2]) < 1):
            raise ValueError(f"{text!r} is no condition to stop on; {FORM}")
        return cls(Severity[hit[1].upper()], int(hit[2] or 1))

    def __str__(self) -> str:
        return f"{self.severity}:{self.steps}"


@dataclass(frozen=True)
class Reason:
    """Why a run is to be stopped.

    finding: what is to be treated, the root cause where the diagnosis has one; alerts tell of the same. sign: the
    finding that met the condition, often the same. since: the step from which on it did. onset: first step of what
    went wrong, the earlier of the two.
    """

    finding: Finding
    sign: Finding
    since: int
    step: int
    onset: int

    @property
    def words(self) -> str:
        """`POL01 at error since step 11`, or `POL01: LEN01 at error since step 11` of a sign, each with its name."""
        sign = f"{_named(self.sign)} at {self.sign.severity} since step {self.since}"
        return sign if self.sign.id == self.finding.id else f"{_named(self.finding)}: {sign}"


class StopWatch:
    """Counts for how many steps findings have been open at the severity, look by look.

    Rows that were there before it began do not count: a run that is gone on with starts with the findings of the
    attempt before it.
    """

    def __init__(self, wanted: StopOn, rows_before: int = 0) -> None:
        self.wanted = wanted
        self._rows = rows_before
        self._since: dict[str, int] = {}

    def due(self, look: Look) -> Reason | None:
        """The finding for which the run is to be stopped now."""
        if look.rows <= self._rows or look.step is None:
            return None
        held = {one.id: one for one in look.findings(self.wanted.severity) if one.last_step > 0}
        self._since = {name: self._since.get(name, look.step) for name in held}
        over = [one for name, one in held.items() if look.step - self._since[name] + 1 >= self.wanted.steps]
        if not over:
            return None
        worst = min(over, key=lambda one: (-one.severity, _began(one)))
        cause = _cause(worst, look.findings(Severity.INFO))
        return Reason(cause, worst, self._since[worst.id], look.step, min(_began(cause), _began(worst)))


def _began(finding: Finding) -> int:
    """First step of the episode that is open."""
    return finding.episodes[-1][0] if finding.episodes else finding.first_step


def _named(finding: Finding) -> str:
    return f"{finding.name} ({finding.id})"


def _cause(finding: Finding, findings: Sequence[Finding]) -> Finding:
    """Its root cause among those that are open; itself where it has none."""
    return next((one for one in findings if one.id == finding.root_cause), finding)
