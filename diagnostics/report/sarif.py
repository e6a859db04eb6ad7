"""SARIF 2.1.0, which code hosts show beside the lines of a change."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.report.jsontext import written
from klinic.diagnostics.report.sheet import Item, Sheet, Sheeted, encodable, sheets

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARN: "warning", Severity.INFO: "note", Severity.NONE: "none"}


def render(cases: Sequence[Sheeted], *, color: bool = False, width: int = 80) -> str:
    """One SARIF run a sheet: results for what failed, was remarked or accepted; notifications where judging failed."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(sheet) for sheet in sheets(cases)]}
    return written(log)


def _run(sheet: Sheet) -> dict[str, Any]:
    told = [item for item in sheet.items if item.status in ("failed", "remark") or item.accepted]
    ids = {item.topic: item.id for item in told}
    rules = [{"id": rule, "name": rule, "properties": {"klinic": ids[rule]}} for rule in ids]
    driver = {"name": sheet.tool, "version": version("klinic"), "rules": rules}
    unsure = [{"level": "error", "message": {"text": _text(item)}} for item in sheet.of("unsure")]
    done: dict[str, Any] = {"executionSuccessful": not unsure, "exitCode": sheet.code}
    if unsure:
        done["toolExecutionNotifications"] = unsure
    order = list(ids)
    results = [_result(item, order.index(item.topic), sheet.subject) for item in told]
    category = {"id": f"{sheet.tool.replace(' ', '-')}/{encodable(sheet.subject)}"}
    return {"tool": {"driver": driver}, "automationDetails": category, "invocations": [done], "results": results}


def _result(item: Item, index: int, subject: str) -> dict[str, Any]:
    spot = item.spot
    region: dict[str, int] = {"startLine": max(1, spot.line if spot else 1)}
    if spot and spot.column:
        region["startColumn"] = spot.column
    file = {"artifactLocation": {"uri": _uri(spot.file if spot else subject)}, "region": region}
    result: dict[str, Any] = {
        "ruleId": item.topic,
        "ruleIndex": index,
        "level": LEVELS[item.severity],
        "message": {"text": _text(item)},
        "locations": [{"physicalLocation": file}],
    }
    if item.accepted:
        result["suppressions"] = [{"kind": "external", "justification": item.accepted}]
    return result


def _text(item: Item) -> str:
    return encodable(item.sentence) or item.name


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(encodable(file.removeprefix("./")))
