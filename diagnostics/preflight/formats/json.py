"""Everything of the report as JSON."""

from __future__ import annotations

from klinic.diagnostics.preflight.model import Found, Report
from klinic.diagnostics.report.jsontext import written


def render(report: Report, *, color: bool = False) -> str:
    """One object: path, kind, findings, batch, arithmetic, seen, memory."""
    data = {
        "schema": 1,
        "path": report.source.path,
        "kind": report.source.kind,
        "findings": [_found(one) for one in report.found],
        "batch": dict(report.batch),
        "arithmetic": list(report.arithmetic),
        "seen": list(report.seen),
        "memory": list(report.memory),
    }
    return written(data)


def _found(one: Found) -> dict[str, object]:
    return {
        "id": one.id,
        "name": one.name,
        "severity": str(one.severity),
        "message": one.message,
        "stage": one.stage,
        "file": one.place.file,
        "line": one.place.line,
        "column": one.place.column,
        "keys": list(one.keys),
        "write": list(one.write),
    }
