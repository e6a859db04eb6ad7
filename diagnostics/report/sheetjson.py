"""Sheets as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from klinic.diagnostics.report.jsontext import written
from klinic.diagnostics.report.sheet import Item, Sheet, Sheeted, encodable, sheets

SCHEMA = "klinic.sheet/1"


def render(cases: Sequence[Sheeted], *, color: bool = False, width: int = 80) -> str:
    """One sheet as one object, several as {"runs": [...]} in the order given."""
    objects = [as_object(sheet) for sheet in sheets(cases)]
    document = objects[0] if len(objects) == 1 else {"runs": objects}
    return written(document)


def as_object(sheet: Sheet) -> dict[str, Any]:
    """A sheet as plain JSON values; code is the exit code of this run alone."""
    return {
        "schema": SCHEMA,
        "klinic": version("klinic"),
        "tool": sheet.tool,
        "path": encodable(sheet.subject),
        "result": sheet.word,
        "code": sheet.code,
        "items": [_item(item) for item in sheet.items],
        "notes": list(sheet.notes),
    }


def _item(item: Item) -> dict[str, Any]:
    spot = item.spot
    return {
        "kind": item.kind,
        "id": item.id,
        "name": encodable(item.name),
        "status": item.status,
        "severity": str(item.severity),
        "message": encodable(item.message),
        "advice": encodable(item.advice),
        "accepted": item.accepted,
        "file": encodable(spot.file) if spot else None,
        "line": (spot.line or None) if spot else None,
        "column": (spot.column or None) if spot else None,
    }
