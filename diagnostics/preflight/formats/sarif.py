"""SARIF 2.1.0, which code hosts show beside the lines of a change."""

from __future__ import annotations

from importlib.metadata import version

import orjson

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.preflight.model import Found, Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARN: "warning", Severity.INFO: "note", Severity.NONE: "none"}


def render(report: Report, *, color: bool = False) -> str:
    """One SARIF run with a rule for each name that was found."""
    names = list(dict.fromkeys(one.name for one in report.found))
    ids = {one.name: one.id for one in report.found}
    rules = [{"id": name, "name": name, "properties": {"klinic": ids[name]}} for name in names]
    driver = {"name": "klinic preflight", "version": version("klinic"), "rules": rules}
    results = [_result(one, names.index(one.name)) for one in report.found]
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return orjson.dumps(log, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _result(one: Found, index: int) -> dict[str, object]:
    region = {"startLine": one.place.line, "startColumn": one.place.column}
    location = {"physicalLocation": {"artifactLocation": {"uri": _uri(one.place.file)}, "region": region}}
    text = f"{one.message}{one.advice}"
    return {
        "ruleId": one.name,
        "ruleIndex": index,
        "level": LEVELS[one.severity],
        "message": {"text": text},
        "locations": [location],
    }


def _uri(file: str) -> str:
    from urllib.parse import quote

    return quote(file.removeprefix("./"))
