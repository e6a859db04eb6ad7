"""A treatment for a person: the config diff, why, the new launch command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from klinic.diagnostics.language import tr
from klinic.diagnostics.report.wrapping import WIDTH, wrapped
from klinic.diagnostics.verlconfig.spelling import spelt
from klinic.trainer.treat.treatment import ACCEPTED, Change, Treatment


def text(treatment: Treatment, alternatives: bool = False) -> str:
    """The treatment in lines."""
    return "\n".join([*_lines(treatment, alternatives), ""])


def _lines(treatment: Treatment, alternatives: bool) -> Iterator[str]:
    diagnosis = treatment.diagnosis
    yield from wrapped(tr("{}: {}. {}", treatment.path, tr(diagnosis.verdict), diagnosis.story), WIDTH)
    yield ""
    if treatment.changes:
        yield tr("Change:")
        for change in treatment.changes:
            yield from _change(change)
    else:
        yield from wrapped(nothing(treatment), WIDTH)
    for sentence in treatment.missing:
        yield from wrapped(tr("Note: {}", sentence), WIDTH, rest="  ")
    if treatment.command:
        yield from ("", tr("Launch:"), treatment.command)
    if alternatives:
        yield from _alternatives(treatment)


def nothing(treatment: Treatment) -> str:
    """Why there is nothing to change."""
    diagnosis = treatment.diagnosis
    if diagnosis.incidents:
        told = tr("; ").join(tr("{}: {}", one.name, one.fix) for one in diagnosis.incidents)
        checks = f"klinic preflight {shlex.quote(treatment.path)} --fix"
        more = tr(" `{}` prints the launch, corrected where that is known.", checks) if treatment.origin.known else ""
        return tr("No metric calls for a change; {}{}", told, more)
    loud = [finding.name for finding in diagnosis.findings if finding.severity > 1 and finding.root_cause is None]
    if loud:
        names = ", ".join(loud)
        return tr("No config change cures {}: the cause lies outside the config (reward, data, engine)", names)
    return tr("Nothing to treat")


def _change(change: Change) -> Iterator[str]:
    one = change.override
    yield f"  {one.key}: {spelt(one.old)} -> {spelt(one.new) if one.new is not None else tr('removed')}"
    said = [tr("because {} ({})", one.because, one.name)]
    if one.effect:
        said.append(tr("effect: {}; side effect: {}", one.effect, one.side_effects or tr("none known")))
    if one.checked and ACCEPTED not in one.checked:
        said.append(one.checked)
    for sentence in said:
        yield from wrapped(sentence, WIDTH, " " * 6, " " * 8)


def _alternatives(treatment: Treatment) -> Iterator[str]:
    yield ""
    if not treatment.alternatives:
        yield tr("Nothing else to try.")
        return
    yield tr("If that does not help, one at a time, in this order:")
    for change in treatment.alternatives:
        yield from _change(change)


def script(treatment: Treatment) -> str:
    """The new launch command as a shell script."""
    notes = [f"# {change.override.override}: {change.override.because}" for change in treatment.changes]
    head = ["#!/usr/bin/env bash", tr("# treatment of {}", treatment.path), *notes, "set -euo pipefail"]
    return "\n".join([*head, treatment.command, ""])
