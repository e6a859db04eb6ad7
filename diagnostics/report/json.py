"""The machine's report: JSON as `schema.json` in this folder says, without NaN; several runs under `runs`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from klinic.diagnostics.engine.model import Evidence, Finding, Incident, NotApplicable, Override, Vital
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.jsontext import written
from klinic.diagnostics.report.phrases import doubts, evidence_words
from klinic.diagnostics.report.uncured import uncured
from klinic.diagnostics.run import Outline, Run

SCHEMA = "klinic.diagnosis/1"


def render(judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> str:
    """One run as one object, several as {"runs": [...]} in the order given; `color` and `width` change nothing."""
    objects = [as_object(case) for case in judged]
    document = objects[0] if len(objects) == 1 else {"runs": objects}
    return written(document)


def as_object(case: Judged) -> dict[str, Any]:
    """One diagnosis as plain JSON values."""
    found = case.diagnosis
    return {
        "schema": SCHEMA,
        "klinic": version("klinic"),
        "run": _run(case.run),
        "verdict": found.verdict,
        "health": found.health,
        "story": found.story,
        "root_cause": found.root_cause,
        "vitals": [_vital(vital) for vital in found.vitals],
        "findings": [_finding(finding) for finding in found.findings],
        "incidents": [_incident(incident) for incident in found.incidents],
        "prescription": [_override(override) for override in found.prescription],
        "uncured": uncured(case),
        "not_applicable": [_not_applicable(item) for item in found.not_applicable],
        "notes": list(found.notes),
    }


def _run(run: Run | Outline) -> dict[str, Any]:
    first, last = run.steps or (None, None)
    return {
        "path": run.source.path.encode("utf-8", "replace").decode(),  # a file's name may be no valid text
        "format": run.source.format,
        "framework": run.source.framework,
        "version": run.source.version,
        "steps": {"first": first, "last": last, "rows": run.rows},
        "attempts": [
            {"number": a.number, "first_step": a.first_step, "last_step": a.last_step, "rows": a.rows}
            for a in run.attempts
        ],
        "config": {
            "where": list(run.config.where),
            "user": sorted(run.config.user),
            "values": dict(run.config.values),
        },
    }


def _vital(vital: Vital) -> dict[str, Any]:
    return {
        "name": vital.name,
        "metric": vital.metric,
        "title": vital.title,
        "value": vital.value,
        "unit": vital.unit,
        "range": {"low": vital.low, "high": vital.high},
        "status": vital.status,
        "score": vital.score,
        "trend": vital.trend,
        "spark": list(vital.spark),
        "note": vital.note,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "name": finding.name,
        "severity": str(finding.severity),
        "peak": str(finding.peak),
        "confidence": finding.confidence,
        "doubts": doubts(finding),
        "first_step": finding.first_step,
        "last_step": finding.last_step,
        "attempt": finding.attempt,
        "closed": finding.closed,
        "episodes": [list(episode) for episode in finding.episodes],
        "message": finding.message,
        "why": finding.why,
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "root_cause": finding.root_cause,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "text": evidence.text,
        "value": evidence.value,
        "op": evidence.op,
        "bound": evidence.bound,
        "unit": evidence.unit,
        "step": evidence.step,
        "words": evidence_words(evidence),
        "metrics": dict(evidence.seen),
    }


def _incident(incident: Incident) -> dict[str, Any]:
    return {
        "id": incident.id,
        "name": incident.name,
        "severity": str(incident.severity),
        "line": incident.line,
        "count": incident.count,
        "text": incident.text,
        "message": incident.message,
        "cause": incident.cause,
        "fix": incident.fix,
    }


def _override(override: Override) -> dict[str, Any]:
    return {
        "id": override.id,
        "name": override.name,
        "key": override.key,
        "from": override.old,
        "to": override.new,
        "override": override.override,
        "because": override.because,
        "effect": override.effect,
        "side_effects": override.side_effects,
        "checked": override.checked,
        "rank": override.rank,
    }


def _not_applicable(item: NotApplicable) -> dict[str, Any]:
    return {"id": item.id, "name": item.name, "missing": item.missing}
