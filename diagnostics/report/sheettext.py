"""A sheet for a person at a terminal: the answer first, then what failed, what passed, what was skipped and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.language import later, tr
from klinic.diagnostics.report.layout import Page, clean
from klinic.diagnostics.report.sheet import ORDER, Item, Sheet, Sheeted, Status, sheets
from klinic.diagnostics.report.words import count
from klinic.diagnostics.report.wrapping import wrapped

LABELS = {
    "failed": later("FAILED"),
    "unsure": later("UNSURE"),
    "passed": later("passed"),
    "remark": later("seen"),
    "skipped": later("skipped"),
}
STYLES = {"failed": "error", "unsure": "warn", "passed": "healthy", "remark": "info", "skipped": "dim"}
VERDICTS = ("healthy", "error", "warn")


def render(cases: Sequence[Sheeted], *, color: bool = False, width: int = 80) -> str:
    """One sheet after the other, wrapped at `width` columns; of several, at last which of them did not pass."""
    made = sheets(cases)
    pages = [_one(sheet, color, width) for sheet in made]
    return "\n".join(pages if len(made) < 2 else [*pages, _summary(made, color, width)])


def _summary(made: Sequence[Sheet], color: bool, width: int) -> str:
    """How many of all failed, and a line for each that did not pass with what is at fault."""
    page = Page(color=color, width=width)
    counts = (sum(sheet.code == code for sheet in made) for code in (1, 0, 2))
    page.line(tr("{} in all: {} failed, {} passed, {} could not be judged", len(made), *counts))
    for sheet in sorted((each for each in made if each.code), key=lambda each: -each.code):
        status: Status = "unsure" if sheet.code == 2 else "failed"
        page.labelled(tr(LABELS[status]), STYLES[status], clean(sheet.subject), gap=9)
        page.text(tr(", ").join(dict.fromkeys(item.name for item in sheet.of(status))), 11)
    return page.render()


def _one(sheet: Sheet, color: bool, width: int) -> str:
    page = Page(color=color, width=width)
    said = tr("{}: {}", sheet.word, tr("{} ({})", clean(sheet.subject), counted(sheet)))
    first, *others = wrapped(said, width, rest="  ")
    page.line(first.replace(sheet.word, page.style(sheet.word, VERDICTS[sheet.code]), 1))
    for line in others:
        page.line(line)
    for status in ORDER:
        for item in folded(sheet, sheet.of(status)):
            _item(page, item)
    for note in sheet.notes:
        page.text(tr("note: {}", note), 2, 4, kind="dim")
    return page.render()


def counted(sheet: Sheet) -> str:
    """`1 failed, 4 passed, 2 skipped`."""
    words: dict[Status, str] = {
        "unsure": later("{} not judged"),
        "failed": later("{} failed"),
        "passed": later("{} passed"),
        "skipped": later("{} skipped"),
    }
    told = [tr(word, len(found)) for status, word in words.items() if (found := sheet.of(status))]
    seen = sheet.of("remark")
    return tr(", ").join([*told, *([count(len(seen), "remark")] if seen else [])]) or tr("nothing was asked")


NAMES = 6  # shown of what is folded


def folded(sheet: Sheet, items: Sequence[Item]) -> Iterator[Item]:
    """The items; those that passed as one for each kind that the sheet folds."""
    for kind in sheet.folds:
        some = [item for item in items if item.kind == kind and item.status == "passed"]
        if len(some) > NAMES:
            names = ", ".join(item.name for item in some[:NAMES])
            said = tr("{} and {} more (--verbose lists them)", names, len(some) - NAMES)
            yield Item(kind, kind.upper(), count(len(some), kind), "passed", said, Severity.NONE)
            items = [item for item in items if item not in some]
    yield from items


def _item(page: Page, item: Item) -> None:
    page.labelled(tr(LABELS[item.status]), STYLES[item.status], item.title, gap=9)
    if item.message:
        page.text(item.message, 11, kind="dim" if item.status == "skipped" else "")
    if item.advice and item.status in ("failed", "unsure"):
        page.text(tr("Fix: {}", item.advice), 11)
    if item.spot and item.spot.line and item.status != "passed":
        page.text(tr("at {}", item.spot), 11, kind="dim")
