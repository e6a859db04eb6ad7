"""GitLab's code quality report: what is wrong stands in the widget of a merge request and beside its lines."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.report.jsontext import written
from klinic.diagnostics.report.sheet import Item, Sheet, Sheeted, encodable, sheets

LEVELS = {Severity.ERROR: "critical", Severity.WARN: "major", Severity.INFO: "minor", Severity.NONE: "info"}


def render(cases: Sequence[Sheeted], *, color: bool = False, width: int = 80) -> str:
    """One entry for what failed, could not be judged or was remarked; an empty list where there is nothing."""
    entries = [entry for sheet in sheets(cases) for entry in _entries(sheet)]
    return written(entries)


def _entries(sheet: Sheet) -> Iterator[dict[str, Any]]:
    met: Counter[str] = Counter()
    for item in sheet.of("unsure", "failed", "remark"):
        place = "|".join(
            [sheet.tool, encodable(sheet.subject), item.kind, item.id, encodable(item.name), _path(item, sheet)]
        )
        met[place] += 1
        yield {
            "description": _description(item),
            "check_name": item.topic,
            "fingerprint": hashlib.sha256(f"{place}|{met[place]}".encode()).hexdigest(),
            "severity": "blocker" if item.status == "unsure" else LEVELS[item.severity],
            "location": {"path": _path(item, sheet), "lines": {"begin": max(1, item.spot.line if item.spot else 1)}},
        }


def _description(item: Item) -> str:
    return encodable(f"{item.name} ({item.id}): {item.sentence}" if item.of_a_rule else item.sentence)


def _path(item: Item, sheet: Sheet) -> str:
    """Below the working directory, which GitLab takes for the top of the repository, where it lies there."""
    path = Path(encodable(item.spot.file if item.spot else sheet.subject))
    here = Path.cwd()
    return (path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path).as_posix()
