"""What an alert says: the run, what happened, the evidence, what to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from klinic.diagnostics.alerts.mask import Mask
from klinic.diagnostics.engine.model import Diagnosis, Finding, Incident, Severity
from klinic.diagnostics.live.changes import Change
from klinic.diagnostics.live.look import Look
from klinic.diagnostics.report.phrases import evidence_words, sentence, telling

ENDS = {
    "failed": "failed",
    "interrupted": "is gone without a word",
    "stopped": "was stopped",
    "finished": "is finished",
}


@dataclass(frozen=True)
class Message:
    """One alert. kind: finding, incident, stall, end, test, limit. prescription: overrides to paste, in order."""

    kind: str
    severity: Severity
    title: str
    run: str
    run_id: str = ""
    step: int | None = None
    total: int | None = None
    verdict: str = ""
    health: int | None = None
    rule: Mapping[str, str] | None = None
    story: str = ""
    evidence: tuple[str, ...] = ()
    why: str = ""
    prescription: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """`step 12 of 40, health 13 of 100, sick`."""
        step = "" if self.step is None else f"step {self.step}{f' of {self.total}' if self.total else ''}"
        health = "" if self.health is None else f"health {self.health} of 100"
        return ", ".join(filter(None, (step, health, self.verdict)))

    @property
    def command(self) -> str:
        """What to type to see more."""
        return f"klinic diagnose {self.run}"

    def lines(self) -> list[str]:
        """The message as plain lines, the title first."""
        found = [self.title, f"Run: {self.run}{f' ({self.place})' if self.place else ''}"]
        found += [self.story] if self.story else []
        found += [f"- {item}" for item in self.evidence]
        found += [self.why] if self.why else []
        if self.prescription:
            found += ["Prescription:", *(f"  {item}" for item in self.prescription)]
        return found

    def data(self) -> dict[str, Any]:
        """The message as plain data, schema klinic/alert/1."""
        return {
            "schema": "klinic/alert/1",
            "kind": self.kind,
            "severity": str(self.severity),
            "title": self.title,
            "run": {"path": self.run, "id": self.run_id, "step": self.step, "total_steps": self.total},
            "verdict": self.verdict,
            "health": self.health,
            "rule": dict(self.rule) if self.rule else None,
            "story": self.story,
            "evidence": list(self.evidence),
            "why": self.why,
            "prescription": list(self.prescription),
            "text": "\n".join(self.lines()),
        }

    def masked(self, mask: Mask) -> Message:
        """The message without anything secret in it."""
        return replace(
            self,
            title=mask(self.title),
            run=mask(self.run),
            story=mask(self.story),
            evidence=tuple(map(mask, self.evidence)),
            why=mask(self.why),
            prescription=tuple(map(mask, self.prescription)),
        )


def message(change: Change) -> Message:
    """The alert for a change."""
    look = change.look
    common = _about(look)
    if change.finding is not None:
        return _finding(change.finding, look, common)
    if change.incident is not None:
        return _incident(change.incident, look, common)
    if change.kind == "stalled":
        title = f"klinic warn: {look.name} stands still"
        story = f"No new step for {look.silent / 60:.0f} min; one takes {look.pace or 0:.0f} s as a rule."
        return Message("stall", Severity.WARN, title, story=story, **common)
    return _end(change.severity, look, common)


def _about(look: Look) -> dict[str, Any]:
    found = look.diagnosis
    return {
        "run": look.name,
        "run_id": str(look.run.manifest.get("id") or ""),
        "step": look.step,
        "total": look.total,
        "verdict": found.verdict if found else "",
        "health": found.health if found else None,
    }


def _finding(one: Finding, look: Look, common: Mapping[str, Any]) -> Message:
    title = f"klinic {one.severity}: {one.name} ({one.id}) in {look.name} since step {one.first_step}"
    return Message(
        "finding",
        one.severity,
        title,
        rule={"id": one.id, "name": one.name},
        story=look.diagnosis.story if look.diagnosis else sentence(one.message),
        evidence=tuple(evidence_words(item) for item in telling(one.evidence)),
        why=sentence(one.message),
        prescription=_prescribed(look.diagnosis),
        **common,
    )


def _incident(one: Incident, look: Look, common: Mapping[str, Any]) -> Message:
    return Message(
        "incident",
        one.severity,
        f"klinic {one.severity}: {one.name} ({one.id}) in {look.name}",
        rule={"id": one.id, "name": one.name},
        story=sentence(one.message),
        evidence=(f"line {one.line}: {one.text}",) if one.text else (),
        why=f"{sentence(one.cause)} {sentence(one.fix)}",
        **common,
    )


def _end(severity: Severity, look: Look, common: Mapping[str, Any]) -> Message:
    error = str(look.run.manifest.get("error") or "")
    return Message(
        "end",
        severity,
        f"klinic {severity}: {look.name} {ENDS.get(look.state, look.state)}",
        story=look.diagnosis.story if look.diagnosis else "",
        evidence=(error,) if error else (),
        prescription=_prescribed(look.diagnosis),
        **common,
    )


def _prescribed(diagnosis: Diagnosis | None) -> tuple[str, ...]:
    found = diagnosis.prescription if diagnosis else ()
    return tuple(one.override for one in found if one.rank == 1)


def trial() -> Message:
    """The message of `klinic alerts test`."""
    return Message(
        "test",
        Severity.INFO,
        "klinic: this is a test, nothing is wrong",
        "runs/example",
        step=12,
        total=40,
        verdict="sick",
        health=13,
        rule={"id": "POL01", "name": "update-too-large"},
        story="An alert will tell here what happened, since which step, and what followed from it.",
        evidence=("actor/ppo_kl was 0.31, above 0.2 nats/token, at step 11",),
        why="The policy moves too far in one round of updates.",
        prescription=("actor_rollout_ref.actor.optim.lr=5e-05",),
    )
