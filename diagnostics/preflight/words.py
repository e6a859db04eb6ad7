"""How preflight's findings are worded."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from klinic.diagnostics.language import spoken, tr

if TYPE_CHECKING:
    from klinic.diagnostics.preflight.model import Report
    from klinic.diagnostics.report.sheet import Sheet, Status


def advised(write: Sequence[str]) -> str:
    """`; write a=1`, `; take out b`, or nothing."""
    put = [shlex.quote(text) for text in write if not text.startswith("~")]
    out = [text[1:] for text in write if text.startswith("~")]
    parts = ([tr("take out {}", " ".join(out))] if out else []) + ([tr("write {}", " ".join(put))] if put else [])
    return tr("; {}", tr(", ").join(parts)) if parts else ""


def plural(count: int, word: str) -> str:
    """`1 prompt`, `2 prompts`; in other languages the number before what the word is there."""
    if spoken() != "en":
        return tr(f"{{}} {word}", count)
    return f"{count} {word}" if count == 1 else f"{count} {word}es" if word.endswith("ch") else f"{count} {word}s"


def sheet_of(report: Report) -> Sheet:
    """The findings of a launch as a sheet; those from warn on count as failed."""
    from klinic.diagnostics.engine.model import Severity
    from klinic.diagnostics.report.sheet import Item, Sheet, Spot

    items = []
    for one in report.found:
        spot = Spot(one.place.file, one.place.line, one.place.column)
        status: Status = "failed" if one.severity >= Severity.WARN else "remark"
        items.append(Item("finding", one.id, one.name, status, one.message + one.advice, one.severity, spot))
    if not items:
        items.append(Item("rules", "RULES", "launch", "passed", tr("nothing found"), Severity.NONE))
    return Sheet("klinic preflight", report.source.path, tuple(items))
