"""GitHub's workflow commands: annotations at the lines of a pull request; `step_summary` is the page of a job."""

from __future__ import annotations

from collections.abc import Sequence

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.report.sheet import Item, Sheeted, sheets

LEVELS = {Severity.ERROR: "error", Severity.WARN: "warning"}


def render(cases: Sequence[Sheeted], *, color: bool = False, width: int = 80) -> str:
    """A command a line for what failed, could not be judged or was remarked; a notice where nothing was found."""
    lines = []
    for sheet in sheets(cases):
        told = [_command(item, sheet.subject) for item in sheet.of("unsure", "failed", "remark")]
        if sheet.code == 0:
            told.append(f"::notice title={_property(sheet.tool)}::{_data(sheet.subject)} {sheet.word}")
        lines += told
    return "".join(f"{line}\n" for line in lines)


def _command(item: Item, subject: str) -> str:
    spot, place = item.spot, f"file={_property(subject)}"
    if spot:
        numbers = [("line", spot.line), ("col", spot.column)]
        place = ",".join([f"file={_property(spot.file)}", *(f"{word}={at}" for word, at in numbers if at)])
    level = "error" if item.status == "unsure" else LEVELS.get(item.severity, "notice")
    title = _property(f"{item.id} {item.name}" if item.of_a_rule else f"{item.kind} {item.status}")
    return f"::{level} {place},title={title}::{_data(item.sentence)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
