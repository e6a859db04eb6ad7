"""A sheet for a person at a terminal: the answer first, then what failed, what passed, what was skipped and why."""

from __future__ import annotations

from collections.abc import Sequence

from klinic.diagnostics.report.layout import Page, clean
from klinic.diagnostics.report.sheet import ORDER, Item, Sheet, Sheeted, Status, sheets
from klinic.diagnostics.report.words import count

LABELS = {"failed": "FAILED", "unsure": "UNSURE", "passed": "passed", "remark": "seen", "skipped": "skipped"}
STYLES = {"failed": "error", "unsure": "warn", "passed": "healthy", "remark": "info", "skipped": "dim"}
VERDICTS = ("healthy", "error", "warn")


def render(cases: Sequence[Sheeted], *, color: bool = False, width: int = 80) -> str:
    """One sheet after the other, wrapped at `width` columns."""
    return "\n".join(_one(sheet, color, width) for sheet in sheets(cases))


def _one(sheet: Sheet, color: bool, width: int) -> str:
    page = Page(color=color, width=width)
    verdict = page.style(sheet.word, VERDICTS[sheet.code])
    page.line(f"{verdict}: {clean(sheet.subject)} ({counted(sheet)})")
    for status in ORDER:
        for item in sheet.of(status):
            _item(page, item)
    for note in sheet.notes:
        page.text(f"note: {note}", 2, 4, kind="dim")
    return page.render()


def counted(sheet: Sheet) -> str:
    """`1 failed, 4 passed, 2 skipped`."""
    words: dict[Status, str] = {"unsure": "not judged", "failed": "failed", "passed": "passed", "skipped": "skipped"}
    told = [f"{len(found)} {word}" for status, word in words.items() if (found := sheet.of(status))]
    seen = sheet.of("remark")
    return ", ".join([*told, *([count(len(seen), "remark")] if seen else [])]) or "nothing was asked"


def _item(page: Page, item: Item) -> None:
    known = item.kind in ("finding", "incident")
    title = f"{item.name} ({item.id}), {item.severity}" if known else item.name
    page.labelled(LABELS[item.status], STYLES[item.status], title, gap=9)
    if item.message:
        page.text(item.message, 11, kind="dim" if item.status == "skipped" else "")
    if item.advice and item.status in ("failed", "unsure"):
        page.text(f"Fix: {item.advice}", 11)
    if item.spot and item.spot.line and item.status != "passed":
        page.text(f"at {item.spot}", 11, kind="dim")
