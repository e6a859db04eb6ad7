"""A treatment for a person: the config diff, why, the new launch command."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.engine.settings import hydra
from klinic.trainer.treat.treatment import Change, Treatment


def text(treatment: Treatment, alternatives: bool = False) -> str:
    """The treatment in lines."""
    return "\n".join([*_lines(treatment, alternatives), ""])


def _lines(treatment: Treatment, alternatives: bool) -> Iterator[str]:
    diagnosis = treatment.diagnosis
    yield f"{treatment.path}: {diagnosis.verdict}. {diagnosis.story}"
    yield ""
    if treatment.changes:
        yield "Change:"
        for change in treatment.changes:
            yield from _change(change)
    else:
        yield nothing(treatment)
    for sentence in treatment.missing:
        yield f"Note: {sentence}"
    if treatment.command:
        yield from ("", "Launch:", treatment.command)
    if alternatives:
        yield from _alternatives(treatment)


def nothing(treatment: Treatment) -> str:
    """Why there is nothing to change."""
    diagnosis = treatment.diagnosis
    if diagnosis.incidents:
        return "No metric calls for a change; " + "; ".join(f"{one.name}: {one.fix}" for one in diagnosis.incidents)
    loud = [finding.name for finding in diagnosis.findings if finding.severity > 1 and finding.root_cause is None]
    if loud:
        return f"No config change cures {', '.join(loud)}: the cause lies outside the config (reward, data, engine)"
    return "Nothing to treat"


def _change(change: Change) -> Iterator[str]:
    one = change.override
    yield f"  {one.key}: {hydra(one.old)} -> {hydra(one.new) if one.new is not None else 'removed'}"
    yield f"      because {one.because} ({one.name})"
    if one.effect:
        yield f"      effect: {one.effect}; side effect: {one.side_effects or 'none known'}"
    if "accepted" not in one.checked:
        yield f"      {one.checked}"


def _alternatives(treatment: Treatment) -> Iterator[str]:
    yield ""
    if not treatment.alternatives:
        yield "Nothing else to try."
        return
    yield "If that does not help, one at a time, in this order:"
    for change in treatment.alternatives:
        yield from _change(change)


def script(treatment: Treatment) -> str:
    """The new launch command as a shell script."""
    notes = [f"# {change.override.override}: {change.override.because}" for change in treatment.changes]
    head = ["#!/usr/bin/env bash", f"# treatment of {treatment.path}", *notes, "set -euo pipefail"]
    return "\n".join([*head, treatment.command, ""])
