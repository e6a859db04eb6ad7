"""As a linter writes it: `file:line:column: severity [id name] message; write ...`."""

from __future__ import annotations

from klinic.diagnostics.language import tr
from klinic.diagnostics.preflight.formats import counted
from klinic.diagnostics.preflight.model import Found, Report
from klinic.diagnostics.report.layout import Page, clean


def render(report: Report, *, color: bool = False) -> str:
    """Findings a line each, then the batch in numbers and what the rules will see."""
    page = Page(color=color, width=100)
    for one in report.found:
        page.line(line_of(one, page))
    if report.found:
        page.line()
    page.line(f"{clean(report.source.path)}: {counted(report)}")
    for title, lines in _sections(report):
        if lines:
            page.heading(title)
        for line in lines:
            page.line(f"  {line if lines is report.memory else clean(line)}")
    return page.render()


def _sections(report: Report) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        (tr("Batch"), report.arithmetic),
        (tr("Memory of a GPU"), report.memory),
        (tr("What the rules will see"), report.seen),
    )


def line_of(one: Found, page: Page) -> str:
    """One finding."""
    stops = tr(" ({})", tr(one.stage)) if one.stage else ""
    text = clean(f"{one.message}{stops}{one.advice}")
    level = page.style(str(one.severity), str(one.severity))
    return f"{clean(str(one.place))}: {level} [{one.id} {one.name}] {text}"
