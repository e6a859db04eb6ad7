"""The page of `klinic explain` on a check of preflight or env."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from klinic.diagnostics.knowledge.checks import Check

if TYPE_CHECKING:
    from klinic.diagnostics.report.layout import Page

FAMILIES = {
    "VERL": "a constraint over several settings",
    "KEY": "a key of the config",
    "ENV": "an environment variable or a login",
    "GPU": "the GPUs that are there",
    "FILE": "a file that the config names",
    "MEM": "the memory of a GPU",
    "MACHINE": "a line of klinic env",
}


def check_page(page: Page, one: Check, lang: str) -> None:
    """Write everything that is known of one check."""
    page.line(page.style(f"{one.name} ({one.id})", "heading"))
    page.text(f"{FAMILIES[one.id]}{_when(one)}")
    page.line()
    page.text(one.said(lang))
    page.text(("处理：" if lang == "zh" else "To do: ") + one.advice(lang))
    if one.keys:
        page.heading("涉及的键" if lang == "zh" else "Looks at")
    for key in one.keys:
        page.text(key, 2, 4)
    page.line()


def _when(one: Check) -> str:
    if one.hard is None:
        return ""
    return f"; verl stops at: {one.stage}" if one.hard else f"; verl takes it without a word, it tells at: {one.stage}"


def check_data(one: Check, lang: str) -> dict[str, Any]:
    """The same as plain data, for JSON."""
    return {
        "kind": "check",
        "id": one.id,
        "name": one.name,
        "what": one.said(lang),
        "do": one.advice(lang),
        "stops": one.hard,
        "stage": one.stage,
        "keys": list(one.keys),
    }
