"""Health from 0 to 100: the worst vital sign's score less the weights of findings and incidents; see docs/health.md."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from klinic.diagnostics.engine.model import Finding, Incident, Severity, Verdict, Vital

# How low a vital sign alone may bring the number: a range looks at one value, a finding has evidence beside it.
FLOORS: dict[Verdict, int] = {"healthy": 50, "watch": 25, "sick": 0}
# A consequence counts half: its root has been counted already.
WEIGHTS = {Severity.NONE: 0, Severity.INFO: 1, Severity.WARN: 15, Severity.ERROR: 40}


def score(value: float, low: float | None, high: float | None, sick_low: float | None, sick_high: float | None) -> int:
    """A vital sign's score: 100 in its healthy range, 50 at the abnormal bound, 0 as far again beyond it.

    low, high: healthy range, None where it is open. sick_low, sick_high: abnormal bounds, None where there are none.
    """
    if high is not None and value > high:
        return _beyond(value - high, None if sick_high is None else sick_high - high)
    if low is not None and value < low:
        return _beyond(low - value, None if sick_low is None else low - sick_low)
    return 100


def _beyond(distance: float, band: float | None) -> int:
    """Score at `distance` outside the healthy range; without an abnormal bound it does not fall below 60."""
    if band is None:
        return 60
    if band <= 0:
        return 0
    return math.floor(round(max(0.0, 100.0 - 50.0 * distance / band), 6))


def health(vitals: Iterable[Vital], findings: Sequence[Finding], incidents: Iterable[Incident]) -> int:
    """The run's health, 0 to 100."""
    incidents = list(incidents)
    worst = min((vital.score for vital in vitals if vital.score is not None), default=100)
    base = max(worst, FLOORS[verdict(findings, incidents)])
    burden = sum(WEIGHTS[f.severity] * (1 if f.root_cause is None else 0.5) for f in findings)
    burden += sum(WEIGHTS[incident.severity] for incident in incidents)
    return round(min(100.0, max(0.0, base - burden)))


def verdict(findings: Iterable[Finding], incidents: Iterable[Incident]) -> Verdict:
    """Sick with any error, watch with any warning, else healthy."""
    worst = max([f.severity for f in findings] + [i.severity for i in incidents], default=Severity.NONE)
    return "sick" if worst is Severity.ERROR else "watch" if worst is Severity.WARN else "healthy"
