"""Sheets as Markdown: for a pull request, or the summary page of a CI job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from klinic.diagnostics.language import tr
from klinic.diagnostics.report.layout import clean
from klinic.diagnostics.report.sheet import ORDER, Item, Sheet, Sheeted, sheets
from klinic.diagnostics.report.sheettext import LABELS, counted

_MARKS = re.compile(r"([\\`*_{}\[\]<>|#])")


def render(cases: Sequence[Sheeted], *, color: bool = False, width: int = 80) -> str:
    """A heading and a table a sheet."""
    return "\n".join(_one(sheet) for sheet in sheets(cases))


def _one(sheet: Sheet) -> str:
    lines = [f"## {sheet.tool}: {sheet.word}, {_safe(sheet.subject)}", "", f"{counted(sheet)}{tr('.')}", ""]
    lines += [tr("| result | what | why |"), "|---|---|---|"]
    lines += [_row(item) for status in ORDER for item in sheet.of(status)]
    lines += ["", *(f"- {_safe(note)}" for note in sheet.notes)] if sheet.notes else []
    return "\n".join(lines) + "\n"


def _row(item: Item) -> str:
    why = f"{item.message} {item.advice}".strip()
    where = f" ({item.spot})" if item.spot and item.spot.line else ""
    label = tr(LABELS[item.status])
    label = f"**{label}**" if item.status in ("failed", "unsure") else label
    return f"| {label} | {_safe(item.title)} | {_safe(why + where)} |"


def _safe(text: str) -> str:
    return _MARKS.sub(r"\\\1", clean(text))
