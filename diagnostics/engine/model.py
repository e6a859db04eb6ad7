"""The values that judging produces: findings, incidents, vital signs, prescription, diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal


class Severity(IntEnum):
    """How bad; compares by weight. A quiet card has severity NONE."""

    NONE = 0
    INFO = 1
    WARN = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


Confidence = Literal["low", "medium", "high"]
Verdict = Literal["healthy", "watch", "sick"]
VitalStatus = Literal["healthy", "watch", "sick", "unknown"]


@dataclass(frozen=True)
class Evidence:
    """One comparison that made a card fire: `text` as in the card, the value seen, the bound, unit, at which step.

    expression: what `text` shows, as the language is written: the left side, or all of it where `op` is "".
    seen: (metric, value) of the metrics that it reads, as they stood at the step; those without a value left out.
    """

    text: str
    value: float | None
    op: str
    bound: float | None
    unit: str
    step: int
    expression: str = ""
    seen: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Finding:
    """One episode of one metric card (or several merged, `episodes`), as it stands at the last step judged.

    severity: at the last step; peak: the worst of the episode. first_step: onset (the first step of the window
    that fired); last_step: last step at which it held. closed: it no longer holds at the last step.
    warned: from which step on it is or was a warning or worse, None where it never was.
    root_cause: id of the finding that explains this one, None for a root. rivals: names of other roots that could have
    done the same, for which `confidence` is a grade lower than the card's. wrong_when: where such a sign misleads.
    """

    id: str
    name: str
    severity: Severity
    peak: Severity
    confidence: Confidence
    first_step: int
    last_step: int
    attempt: int
    closed: bool
    message: str
    why: str
    evidence: tuple[Evidence, ...] = ()
    episodes: tuple[tuple[int, int], ...] = ()
    root_cause: str | None = None
    warned: int | None = None
    rivals: tuple[str, ...] = ()
    wrong_when: str = ""
    family: str = ""
    panel: str = ""


@dataclass(frozen=True)
class Incident:
    """A crash or a message of note in the text: where it first stands, what it means, what to do.

    count: how often it was seen among the lines kept; a lower bound where a log repeats it many times.
    """

    id: str
    name: str
    severity: Severity
    line: int
    text: str
    message: str
    cause: str
    fix: str
    captures: tuple[tuple[str, str], ...] = ()
    count: int = 1


@dataclass(frozen=True)
class Vital:
    """A vital sign at the last step: value, healthy range, score 0 (far outside) to 100 (inside), spark values."""

    name: str
    metric: str
    title: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    status: VitalStatus
    score: int | None
    trend: Literal["rising", "falling", "flat", "unknown"]
    spark: tuple[float | None, ...]
    note: str = ""


@dataclass(frozen=True)
class Override:
    """One prescribed change: `key` in the framework's own spelling, `old` None where unset or unknown.

    override: the text to paste, e.g. `actor_rollout_ref.actor.optim.lr=3e-06`. checked: what verlconfig said.
    rank: 1 is tried first; 2 and more only where what stands before it did not help.
    """

    id: str
    name: str
    key: str
    old: Any
    new: Any
    override: str
    because: str
    effect: str
    side_effects: str
    checked: str
    rank: int = 1


@dataclass(frozen=True)
class NotApplicable:
    """A card that could not judge this run, and what is missing for it."""

    id: str
    name: str
    missing: str


@dataclass(frozen=True)
class Diagnosis:
    """The judgement of one run. health: 0..100. root_cause: a finding's id or None. story: one sentence."""

    verdict: Verdict
    health: int
    story: str
    root_cause: str | None
    vitals: tuple[Vital, ...] = ()
    findings: tuple[Finding, ...] = ()
    incidents: tuple[Incident, ...] = ()
    prescription: tuple[Override, ...] = ()
    not_applicable: tuple[NotApplicable, ...] = ()
    notes: tuple[str, ...] = ()

    def reaches(self, level: str) -> bool:
        """Whether a finding or an incident is at or above a level: info, warn, error; never for `never`."""
        if level == "never":
            return False
        found = [*(one.severity for one in self.findings), *(one.severity for one in self.incidents)]
        return any(severity >= Severity[level.upper()] for severity in found)
