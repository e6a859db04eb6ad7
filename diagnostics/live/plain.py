"""One line for each thing that happens, for logs and pipes."""

from __future__ import annotations

import time
from collections.abc import Iterator

from klinic.diagnostics.engine.model import Finding, Severity, Vital
from klinic.diagnostics.live.changes import Change, changes
from klinic.diagnostics.live.look import ENDED, Look
from klinic.diagnostics.live.wording import clock, standing
from klinic.diagnostics.report.layout import clean
from klinic.diagnostics.report.phrases import evidence_words, telling
from klinic.diagnostics.report.words import number

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
        told += [_change(change) for change in changes(before, look) if change.kind != "verdict"]
        self._events = len(look.run.events)
        head = time.strftime("%H:%M:%S", time.localtime(look.seen))
        name = f" {clean(look.name)}" if self._named else ""
        return [f"{head}{name}  {line}" for line in told]

    def _begin(self, look: Look) -> Iterator[str]:
        name = "" if self._named else f" {clean(look.name)}"
        read = f"{look.rows} row{'s' * (look.rows != 1)} read" if look.rows else "no step yet"
        yield f"watch {name.strip() or 'run'}: {read}, {standing(look)}"
        if look.rows:
            yield _step_line(look)
        if look.diagnosis and look.state not in ENDED:
            yield f"so far: {look.diagnosis.story}"

    def _step(self, before: Look, look: Look) -> Iterator[str]:
        if look.rows != before.rows:
            yield _step_line(look)

    def _happened(self, look: Look) -> Iterator[str]:
        for event in look.run.events[self._events :]:
            if not event.kind.startswith(SILENT):
                said = ", ".join(f"{key} {_value(value)}" for key, value in event.data.items())
                yield clean(f"{event.kind} at step {event.step}{': ' * bool(said)}{said}")[:300]


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _step_line(look: Look) -> str:
    place = f"step {look.step}{f'/{look.total}' if look.total else ''}"
    found = look.diagnosis
    vitals = (
        [f"{vital.title} {number(vital.value)}{_mark(vital)}" for vital in found.vitals if vital.value is not None]
        if found
        else []
    )
    health = f"health {found.health} {found.verdict}" if found else "not judged yet"
    pace = f"{look.pace:.3g} s/step" if look.pace else ""
    left = f"{clock(look.left)} left" if look.left is not None else ""
    return "  ".join(filter(None, (place, health, ", ".join(vitals), pace, left)))


def _mark(vital: Vital) -> str:
    return {"sick": " (sick)", "watch": " (watch)"}.get(vital.status, "")


def _change(change: Change) -> str:
    look, finding, incident = change.look, change.finding, change.incident
    if finding is not None:
        return _found(change.kind, finding, look)
    if incident is not None:
        line = f" at line {incident.line}" if incident.line else ""
        return f"incident {incident.severity} {incident.name} ({incident.id}){line}: {incident.message}; {incident.fix}"
    if change.kind == "stalled":
        return f"stalled: no new step for {clock(look.silent)}{f'; one takes {look.pace:.3g} s' if look.pace else ''}"
    if change.kind == "moving":
        return "moving again"
    if change.kind == "restarted":
        return f"attempt {len(look.run.attempts)} begins at step {look.run.attempts[-1].first_step}"
    return f"ended: {standing(look)}{_story(look)}"


def _story(look: Look) -> str:
    return f"; {look.diagnosis.story}" if look.diagnosis else ""


def _found(kind: str, one: Finding, look: Look) -> str:
    title = f"{one.name} ({one.id})"
    if kind == "cleared":
        return f"cleared {title} at step {look.step}"
    if kind in ("worse", "eased"):
        return f"{kind} {one.severity} {title}: {one.message}"
    shown = "; ".join(evidence_words(item) for item in telling(one.evidence, 1))
    fixes = [item.override for item in look.diagnosis.prescription if item.rank == 1] if look.diagnosis else []
    fix = (
        f"; prescription: {' '.join(fixes)}"
        if fixes and one.root_cause is None and one.severity > Severity.INFO
        else ""
    )
    return f"found {one.severity} {title} since step {one.first_step}: {one.message}{'; ' * bool(shown)}{shown}{fix}"
