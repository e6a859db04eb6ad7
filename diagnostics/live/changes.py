"""What changed between two looks at a run, one item for each thing that a person wants to be told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from klinic.diagnostics.engine.model import Finding, Incident, Severity
from klinic.diagnostics.live.look import ENDED, Look


@dataclass(frozen=True)
class Change:
    """kind: found (a finding opened), worse, eased, cleared, incident, verdict, stalled, moving, ended, restarted."""

    kind: str
    look: Look
    finding: Finding | None = None
    incident: Incident | None = None
    before: str = ""

    @property
    def severity(self) -> Severity:
        """Of the finding or incident; a stall is a warning, a failed run an error."""
        if self.finding is not None:
            return self.finding.severity
        if self.incident is not None:
            return self.incident.severity
        if self.kind == "ended":
            return Severity.ERROR if self.look.state in ("failed", "interrupted") else Severity.INFO
        return Severity.WARN if self.kind == "stalled" else Severity.INFO


def changes(before: Look | None, now: Look) -> list[Change]:
    """What is new, in the order in which it should be told; findings at info are passed over."""
    return [*_attempt(before, now), *_findings(before, now), *_incidents(before, now), *_run(before, now)]


def _attempt(before: Look | None, now: Look) -> Iterator[Change]:
    if before is not None and len(now.run.attempts) > max(1, len(before.run.attempts)):
        yield Change("restarted", now)


def _findings(before: Look | None, now: Look) -> Iterator[Change]:
    old = {one.id: one for one in before.findings()} if before else {}
    new = {one.id: one for one in now.findings()}
    for name, one in new.items():
        if name not in old:
            yield Change("found", now, finding=one)
        elif one.severity != old[name].severity:
            kind = "worse" if one.severity > old[name].severity else "eased"
            yield Change(kind, now, finding=one, before=str(old[name].severity))
    for name, one in old.items():
        if name not in new:
            yield Change("cleared", now, finding=one)


def _incidents(before: Look | None, now: Look) -> Iterator[Change]:
    known = _keys(before) if before else set()
    for one in now.diagnosis.incidents if now.diagnosis else ():
        if one.severity >= Severity.WARN and (one.id, one.line) not in known:
            yield Change("incident", now, incident=one)


def _keys(look: Look) -> set[tuple[str, int]]:
    return {(one.id, one.line) for one in look.diagnosis.incidents} if look.diagnosis else set()


def _run(before: Look | None, now: Look) -> Iterator[Change]:
    old = before.diagnosis.verdict if before and before.diagnosis else None
    new = now.diagnosis.verdict if now.diagnosis else None
    if new is not None and old is not None and new != old:
        yield Change("verdict", now, before=old)
    state = before.state if before else "running"
    if now.state == state:
        return
    if now.state in ENDED:
        yield Change("ended", now)
    elif now.state == "stalled":
        yield Change("stalled", now)
    elif state == "stalled":
        yield Change("moving", now)
