"""The page of `klinic explain` on a check of preflight or env."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from klinic.diagnostics.knowledge.checks import Check
from klinic.diagnostics.language import current_language, later, tr

if TYPE_CHECKING:
    from klinic.diagnostics.report.layout import Page

FAMILIES = {
    "VERL": later("a constraint over several settings"),
    "KEY": later("a key of the config"),
    "ENV": later("an environment variable or a login"),
    "GPU": later("the GPUs that are there"),
    "FILE": later("a file that the config names"),
    "MEM": later("the memory of a GPU"),
    "MACHINE": later("a line of klinic env"),
}


def check_page(page: Page, one: Check) -> None:
    """Write everything that is known of one check."""
    page.line(page.style(f"{one.name} ({one.id})", "heading"))
    page.text(f"{tr(FAMILIES[one.id])}{_when(one)}")
    page.line()
    page.text(one.said(current_language()))
    page.text(tr("To do: {}", one.advice(current_language())))
    if one.keys:
        page.heading(tr("Looks at"))
    for key in one.keys:
        page.text(key, 2, 4)
    page.line()


def _when(one: Check) -> str:
    if one.hard is None:
        return ""
    text = later("; verl stops at: {}") if one.hard else later("; verl takes it without a word, it tells at: {}")
    return tr(text, tr(one.stage))


def check_data(one: Check) -> dict[str, Any]:
    """The same as plain data, for JSON."""
    return {
        "kind": "check",
        "id": one.id,
        "name": one.name,
        "what": one.said(current_language()),
        "do": one.advice(current_language()),
        "stops": one.hard,
        "stage": one.stage,
        "keys": list(one.keys),
    }
