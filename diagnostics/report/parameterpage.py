"""The page of `klinic explain` on a setting or an environment variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from klinic.diagnostics.knowledge.checks import checks
from klinic.diagnostics.knowledge.parameters import Parameter
from klinic.diagnostics.language import current_language, tr
from klinic.diagnostics.verlconfig.bounds import BOUNDS
from klinic.diagnostics.verlconfig.table import entry, version

if TYPE_CHECKING:
    from klinic.diagnostics.engine.card import Card
    from klinic.diagnostics.report.layout import Page


def parameter_page(page: Page, about: Parameter, cards: Sequence[Card]) -> None:
    """Write everything that is known of one setting."""
    data = parameter_data(about, cards)
    page.line(page.style(about.name, "heading"))
    page.text(data["what"])
    page.line()
    default = "" if about.variable else tr(" Default in verl {}: {}.", version(), data["default"])
    page.text(tr("Controls {}. Unit: {}.{}", tr(", ").join(data["controls"]), data["unit"], default))
    page.text(tr("To choose: {}", data["choose"]))
    page.text(tr("When it is wrong: {}", data["wrong"]))
    held = [tr("{}: {}", one["name"], one["says"]) for one in data["constraints"]]
    _section(page, tr("Must hold"), [*data["values"], *held])
    if about.claim:
        _section(page, tr("Often said, and wrong"), [data["claim"], tr("In fact: {}", data["truth"])])
    _section(page, tr("Seen in"), list(about.metrics))
    _section(page, tr("Rules that read it"), data["read_by"])
    _section(page, tr("Rules that prescribe it"), data["prescribed_by"])
    page.line()


def _section(page: Page, title: str, lines: Sequence[str]) -> None:
    if lines:
        page.heading(title)
    for line in lines:
        page.text(line, 2, 4)


def parameter_data(about: Parameter, cards: Sequence[Card]) -> dict[str, Any]:
    """The same as plain data, for JSON."""
    from klinic.diagnostics.verlconfig.spelling import spelt

    found = None if about.variable else entry(about.name)
    return {
        "name": about.name,
        "kind": "variable" if about.variable else "setting",
        "what": tr(about.what),
        "controls": [tr(one) for one in about.controls],
        "unit": tr(about.unit),
        "default": spelt(found.default) if found else None,
        "choose": tr(about.choose),
        "wrong": tr(about.wrong),
        "values": list(_values(about)),
        "constraints": [{"name": name, "says": _says(name, text)} for name, text in about.constraints],
        "claim": tr(about.claim),
        "truth": tr(about.truth),
        "metrics": list(about.metrics),
        "read_by": [f"{card.name} ({card.id})" for card in cards if _reads(card, about.name)],
        "prescribed_by": [f"{card.name} ({card.id})" for card in cards if _prescribes(card, about.name)],
    }


def _says(name: str, text: str) -> str:
    """What the constraint wants: its own sentence, in other languages that of its check."""
    return text if current_language() == "en" else checks()[name].said(current_language())


def _values(about: Parameter) -> list[str]:
    """Type, allowed words and bounds, as verl's table has them."""
    found = None if about.variable else entry(about.name)
    if found is None:
        return []
    lines = [] if found.types == ("any",) else [tr("type {}", tr(" or ").join(found.types))]
    lines += [tr("one of {}", ", ".join(map(str, found.choices)))] if found.choices else []
    return lines + [f"{op} {bound:g}" for op, bound in BOUNDS.get(about.name, ())]


def _reads(card: Card, name: str) -> bool:
    return any(f"'{name}'" in text for text in card.expressions)


def _prescribes(card: Card, name: str) -> bool:
    return any(str(remedy["key"]).lstrip("+~") == name for remedy in card.remedies)
