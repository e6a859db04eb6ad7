"""A treatment for a person: the config diff, why, the new launch command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from klinic.diagnostics.engine.settings import hydra
from klinic.diagnostics.report.wrapping import WIDTH, wrapped
from klinic.trainer.treat.treatment import Change, Treatment


def text(treatment: Treatment, alternatives: bool = False) -> str:
    """The treatment in lines."""
    return "\n".join([*_lines(treatment, alternatives), ""])


def _lines(treatment: Treatment, alternatives: bool) -> Iterator[str]:
    diagnosis = treatment.diagnosis
    yield from wrapped(f"{treatment.path}: {diagnosis.verdict}. {diagnosis.story}", WIDTH)
    yield ""
    if treatment.changes:
        yield "Change:"
        for change in treatment.changes:
            yield from _change(change)
    else:
        yield from wrapped(nothing(treatment), WIDTH)
    for sentence in treatment.missing:
        yield from wrapped(f"Note: {sentence}", WIDTH, rest="  ")
    if treatment.command:
        yield from ("", "Launch:", treatment.command)
    if alternatives:
        yield from _alternatives(treatment)


def nothing(treatment: Treatment) -> str:
    """Why there is nothing to change."""
    diagnosis = treatment.diagnosis
    if diagnosis.incidents:
        told = "; ".join(f"{one.name}: {one.fix}" for one in diagnosis.incidents)
        checks = (
            f"`klinic preflight {shlex.quote(treatment.path)} --fix` prints the launch, corrected where that is known."
        )
        return f"No metric calls for a change; {told}{f' {checks}' if treatment.origin.known else ''}"
    loud = [finding.name for finding in diagnosis.findings if finding.severity > 1 and finding.root_cause is None]
    if loud:
        return f"No config change cures {', '.join(loud)}: the cause lies outside the config (reward, data, engine)"
    return "Nothing to treat"


def _change(change: Change) -> Iterator[str]:
    one = change.override
    yield f"  {one.key}: {hydra(one.old)} -> {hydra(one.new) if one.new is not None else 'removed'}"
    said = [f"because {one.because} ({one.name})"]
    if one.effect:
        said.append(f"effect: {one.effect}; side effect: {one.side_effects or 'none known'}")
    if "accepted" not in one.checked:
        said.append(one.checked)
    for sentence in said:
        yield from wrapped(sentence, WIDTH, " " * 6, " " * 8)


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
