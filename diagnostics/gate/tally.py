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


def tally(recordings: Sequence[JudgedRecording]) -> Tally:
    """Count a round."""
    sick = [recording for recording in recordings if recording.found is not None and not recording.label.healthy]
    called = [recording for recording in recordings if recording.diagnosis.verdict != "healthy"]
    errors = [recording.onset_error for recording in recordings if recording.onset_error is not None]
    return Tally(
        recall=_share(bool(recording.found) for recording in sick),
        precision=_share(not recording.label.healthy for recording in called),
        root_cause=_share(recording.rooted for recording in sick if recording.rooted is not None),
        quiet=_share(recording.false_alarm is None for recording in recordings if recording.label.healthy),
        verdict=_share(recording.verdict_right for recording in recordings),
        onset=statistics.median(errors) if errors else None,
        onset_within_5=_share(error <= 5 for error in errors),
    )


def per_rule(recordings: Sequence[JudgedRecording]) -> dict[str, Tally]:
    """The figures of the runs labelled with each rule (a run with several accepted names counts for the first)."""
    named = [(_named(recording), recording) for recording in recordings]
    names = sorted({words[0] for words, _ in named if words})
    return {name: tally([recording for words, recording in named if name in words[:1]]) for name in names}


def _named(recording: JudgedRecording) -> tuple[str, ...]:
    return recording.label.root_cause or recording.label.incident


def misses(recordings: Sequence[JudgedRecording]) -> list[str]:
    """One line for everything that was not right."""
    return [f"{recording.path}: {said}" for recording in recordings for said in _said(recording)]


def _said(recording: JudgedRecording) -> list[str]:
    found = ", ".join(f"{finding.name} ({finding.severity})" for finding in recording.diagnosis.findings) or "nothing"
    lines = []
    if recording.found is False:
        lines.append(f"missed {' or '.join(_named(recording))}; found {found}")
    elif recording.rooted is False:
        lines.append(f"the root cause should be {' or '.join(recording.label.root_cause)}; found {found}")
    if recording.missing:
        lines.append(f"not named: {', '.join(recording.missing)}")
    if recording.onset_error:
        lines.append(f"onset {recording.onset_error} steps off")
    if recording.false_alarm:
        lines.append(f"false alarm {recording.false_alarm[1]} after {recording.false_alarm[0]} rows")
    if not recording.verdict_right:
        lines.append(f"verdict {recording.diagnosis.verdict}, expected {' or '.join(recording.label.verdict)}")
    return lines


def as_json(recordings: Sequence[JudgedRecording]) -> dict[str, Any]:
    """The round as plain data."""
    return {
        "schema": "klinic/ward/1",
        "all": asdict(tally(recordings)),
        "groups": {name: asdict(tally(members)) for name, members in groups(recordings).items()},
        "rules": {name: asdict(figures) for name, figures in per_rule(recordings).items()},
        "misses": misses(recordings),
        "patients": list(map(_as_data, recordings)),
    }


def _as_data(recording: JudgedRecording) -> dict[str, Any]:
    alarm = recording.false_alarm
    return {
        "path": recording.path,
        "seed": recording.label.seed,
        "fault": recording.label.fault,
        "verdict": recording.diagnosis.verdict,
        "verdict_right": recording.verdict_right,
        "health": recording.diagnosis.health,
        "found": recording.found,
        "root_cause_right": recording.rooted,
        "missing": list(recording.missing),
        "onset_error": recording.onset_error,
        "false_alarm": None if alarm is None else {"rows": alarm[0], "name": alarm[1]},
    }
