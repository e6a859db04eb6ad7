"""One line for each thing that happens, for logs and pipes."""

from __future__ import annotations

import time
from collections.abc import Iterator

from klinic.diagnostics.durations import in_words
from klinic.diagnostics.engine.model import Finding, Severity, Vital
from klinic.diagnostics.language import later, tr
from klinic.diagnostics.live.changes import Change, changes
from klinic.diagnostics.live.look import ENDED, Look
from klinic.diagnostics.report.layout import clean
from klinic.diagnostics.report.phrases import evidence_words, telling, when
from klinic.diagnostics.report.words import count, number
from klinic.diagnostics.watch.wording import standing

SILENT = ("finding", "alert", "started", "resumed", "finished", "failed", "stopped")  # kinds that other lines tell


class Plain:
    """Turns looks at one run into lines. named: whether each line says which run it is of."""

    def __init__(self, named: bool = False) -> None:
        self._named = named
        self._last: Look | None = None
        self._events = 0

    def lines(self, look: Look) -> list[str]:
        """What is new since the last look."""
        before, self._last = self._last, look
        told = [*self._begin(look)] if before is None else [*self._step(before, look), *self._happened(look)]
        told += [] if before else _over(look)
        told += [_change(change) for change in changes(before, look) if change.kind != "verdict"]
        self._events = len(look.run.events)
        head = time.strftime("%H:%M:%S", time.localtime(look.seen))
        name = f" {clean(look.name)}" if self._named else ""
        return [f"{head}{name}  {line}" for line in told]

    def _begin(self, look: Look) -> Iterator[str]:
        name = tr("run") if self._named else clean(look.name)
        read = tr("{} read", count(look.rows, "row")) if look.rows else tr("no step yet")
        yield tr("watch {}: {}, {}", name, read, standing(look))
        if look.rows:
            yield _step_line(look)
        if look.diagnosis and look.state not in ENDED:
            yield tr("so far: {}", look.diagnosis.story)

    def _step(self, before: Look, look: Look) -> Iterator[str]:
        if look.rows != before.rows:
            yield _step_line(look)

    def _happened(self, look: Look) -> Iterator[str]:
        for event in look.run.events[self._events :]:
            if not event.kind.startswith(SILENT):
                said = ", ".join(f"{key} {_value(value)}" for key, value in event.data.items())
                when = tr("{} at step {}", event.kind, event.step)
                yield clean(tr("{}: {}", when, said) if said else when)[:300]


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _step_line(look: Look) -> str:
    step = tr("step {}", f"{look.step}{f'/{look.total}' if look.total else ''}")
    found = look.diagnosis
    vitals = (
        [f"{vital.title} {number(vital.value)}{_mark(vital)}" for vital in found.vitals if vital.value is not None]
        if found
        else []
    )
    health = tr("health {} {}", found.health, tr(found.verdict)) if found else tr("not judged yet")
    pace = tr("{:.3g} s/step", look.pace) if look.pace else ""
    left = tr("{} left", in_words(look.left)) if look.left is not None else ""
    return "  ".join(filter(None, (step, health, ", ".join(vitals), pace, left)))


def _mark(vital: Vital) -> str:
    return tr(" ({})", tr(vital.status)) if vital.status in ("sick", "watch") else ""


def _change(change: Change) -> str:
    look, finding, incident = change.look, change.finding, change.incident
    if finding is not None:
        return _found(change.kind, finding, look)
    if incident is not None:
        title = f"{incident.name} ({incident.id})"
        title = tr("{} at line {}", title, incident.line) if incident.line else title
        said = tr("; ").join((incident.message, incident.fix))
        return tr("incident {} {}: {}", tr(str(incident.severity)), title, said)
    if change.kind == "stalled":
        usual = tr("; one takes {:.3g} s", look.pace) if look.pace else ""
        return tr("stalled: no new step for {}", in_words(look.silent)) + usual
    if change.kind == "moving":
        return tr("moving again")
    if change.kind == "restarted":
        return tr("attempt {} begins at step {}", len(look.run.attempts), look.run.attempts[-1].first_step)
    return tr("ended: {}", standing(look)) + _story(look)


def _story(look: Look) -> str:
    return tr("; ") + look.diagnosis.story if look.diagnosis else ""


def _over(look: Look) -> list[str]:
    """What no longer holds when a run is first looked at and still counts: often the root of all that does hold."""
    left = [one for one in look.diagnosis.findings if one.closed] if look.diagnosis else []
    return [_found("found", one, look) for one in left if one.severity > Severity.INFO]


def _found(kind: str, one: Finding, look: Look) -> str:
    title = f"{one.name} ({one.id})"
    if kind == "cleared":
        return tr("cleared {} at step {}", title, look.step)
    level = tr(str(one.severity))
    if kind in ("worse", "eased"):
        template = later("worse {} {}: {}") if kind == "worse" else later("eased {} {}: {}")
        return tr(template, level, title, one.message)
    shown = tr("; ").join(evidence_words(item) for item in telling(one.evidence, 1))
    fixes = [item.override for item in look.diagnosis.prescription if item.rank == 1] if look.diagnosis else []
    parts = [one.message, *([shown] if shown else [])]
    if fixes and one.root_cause is None and one.severity > Severity.INFO:
        parts.append(tr("prescription: {}", " ".join(fixes)))
    if one.closed:
        return tr("found {} {}, {}: {}", level, title, when(one), tr("; ").join(parts))
    return tr("found {} {} since step {}: {}", level, title, one.first_step, tr("; ").join(parts))
