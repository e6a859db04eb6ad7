"""Figures of a ward round: recall, precision, false alarms, onset, root causes; in all and per rule."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from klinic.diagnostics.gate.groups import groups
from klinic.diagnostics.gate.ward import JudgedRecording


@dataclass(frozen=True)
class Share:
    """`hit` of `of` cases; prints as a percentage with the counts beside it."""

    hit: int
    of: int

    def __str__(self) -> str:
        return f"{self.hit}/{self.of} ({100 * self.hit / self.of:.0f} %)" if self.of else "none"


@dataclass(frozen=True)
class Tally:
    """The round in figures.

    recall: sick runs whose root cause (or incident) was named at warn or above. precision: runs called sick or watch
    that are sick. root_cause: sick runs whose diagnosis puts the right name at the root. quiet: healthy runs with
    nothing above their bound on any prefix. verdict: all runs. onset: median distance to the labelled window, steps.
    """

    recall: Share
    precision: Share
    root_cause: Share
    quiet: Share
    verdict: Share
    onset: float | None
    onset_within_5: Share


def _share(flags: Iterable[bool]) -> Share:
    listed = list(flags)
    return Share(sum(listed), len(listed))


def tally(patients: Sequence[JudgedRecording]) -> Tally:
    """Count a round."""
    sick = [patient for patient in patients if patient.found is not None and not patient.label.healthy]
    called = [patient for patient in patients if patient.diagnosis.verdict != "healthy"]
    errors = [patient.onset_error for patient in patients if patient.onset_error is not None]
    return Tally(
        recall=_share(bool(patient.found) for patient in sick),
        precision=_share(not patient.label.healthy for patient in called),
        root_cause=_share(patient.rooted for patient in sick if patient.rooted is not None),
        quiet=_share(patient.false_alarm is None for patient in patients if patient.label.healthy),
        verdict=_share(patient.verdict_right for patient in patients),
        onset=statistics.median(errors) if errors else None,
        onset_within_5=_share(error <= 5 for error in errors),
    )


def per_rule(patients: Sequence[JudgedRecording]) -> dict[str, Tally]:
    """The figures of the runs labelled with each rule (a run with several accepted names counts for the first)."""
    names = sorted({(patient.label.root_cause or patient.label.incident)[0] for patient in patients if _named(patient)})
    return {name: tally([patient for patient in patients if name in _named(patient)[:1]]) for name in names}


def _named(patient: JudgedRecording) -> tuple[str, ...]:
    return patient.label.root_cause or patient.label.incident


def misses(patients: Sequence[JudgedRecording]) -> list[str]:
    """One line for everything that was not right."""
    return [f"{patient.path}: {said}" for patient in patients for said in _said(patient)]


def _said(patient: JudgedRecording) -> list[str]:
    found = ", ".join(f"{finding.name} ({finding.severity})" for finding in patient.diagnosis.findings) or "nothing"
    lines = []
    if patient.found is False:
        lines.append(f"missed {' or '.join(_named(patient))}; found {found}")
    elif patient.rooted is False:
        lines.append(f"the root cause should be {' or '.join(patient.label.root_cause)}; found {found}")
    if patient.missing:
        lines.append(f"not named: {', '.join(patient.missing)}")
    if patient.onset_error:
        lines.append(f"onset {patient.onset_error} steps off")
    if patient.false_alarm:
        lines.append(f"false alarm {patient.false_alarm[1]} after {patient.false_alarm[0]} rows")
    if not patient.verdict_right:
        lines.append(f"verdict {patient.diagnosis.verdict}, expected {' or '.join(patient.label.verdict)}")
    return lines


def as_json(patients: Sequence[JudgedRecording]) -> dict[str, Any]:
    """The round as plain data."""
    return {
        "schema": "klinic/ward/1",
        "all": asdict(tally(patients)),
        "groups": {name: asdict(tally(members)) for name, members in groups(patients).items()},
        "rules": {name: asdict(figures) for name, figures in per_rule(patients).items()},
        "misses": misses(patients),
        "patients": list(map(_patient, patients)),
    }


def _patient(patient: JudgedRecording) -> dict[str, Any]:
    alarm = patient.false_alarm
    return {
        "path": patient.path,
        "seed": patient.label.seed,
        "fault": patient.label.fault,
        "verdict": patient.diagnosis.verdict,
        "verdict_right": patient.verdict_right,
        "health": patient.diagnosis.health,
        "found": patient.found,
        "root_cause_right": patient.rooted,
        "missing": list(patient.missing),
        "onset_error": patient.onset_error,
        "false_alarm": None if alarm is None else {"rows": alarm[0], "name": alarm[1]},
    }
