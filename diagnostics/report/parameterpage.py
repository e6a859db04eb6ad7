"""The page of `klinic explain` on a setting or an environment variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from klinic.diagnostics.knowledge.parameters import Parameter
from klinic.diagnostics.verlconfig.bounds import BOUNDS
from klinic.diagnostics.verlconfig.table import entry, version

if TYPE_CHECKING:
    from klinic.diagnostics.engine.card import Card
    from klinic.diagnostics.report.layout import Page


def parameter_page(page: Page, about: Parameter, cards: Sequence[Card]) -> None:
    """Write everything that is known of one setting."""
    data = parameter_data(about, cards)
    page.line(page.style(about.name, "heading"))
    page.text(about.what)
    page.line()
    default = "" if about.variable else f" Default in verl {version()}: {data['default']}."
    page.text(f"Controls {', '.join(about.controls)}. Unit: {about.unit}.{default}")
    for title, text in (("To choose", about.choose), ("When it is wrong", about.wrong)):
        page.text(f"{title}: {text}")
    _section(page, "Must hold", [*data["values"], *(f"{name}: {text}" for name, text in about.constraints)])
    if about.claim:
        _section(page, "Often said, and wrong", [about.claim, f"In fact: {about.truth}"])
    _section(page, "Seen in", list(about.metrics))
    _section(page, "Rules that read it", data["read_by"])
    _section(page, "Rules that prescribe it", data["prescribed_by"])
    page.line()


def _section(page: Page, title: str, lines: Sequence[str]) -> None:
    if lines:
        page.heading(title)
    for line in lines:
        page.text(line, 2, 4)


def parameter_data(about: Parameter, cards: Sequence[Card]) -> dict[str, Any]:
    """The same as plain data, for JSON."""
    from klinic.diagnostics.engine.settings import hydra

    found = None if about.variable else entry(about.name)
    return {
        "name": about.name,
        "kind": "variable" if about.variable else "setting",
        "what": about.what,
        "controls": list(about.controls),
        "unit": about.unit,
        "default": hydra(found.default) if found else None,
        "choose": about.choose,
        "wrong": about.wrong,
        "values": list(_values(about)),
        "constraints": [{"name": name, "says": text} for name, text in about.constraints],
        "claim": about.claim,
        "truth": about.truth,
        "metrics": list(about.metrics),
        "read_by": [f"{card.name} ({card.id})" for card in cards if _reads(card, about.name)],
        "prescribed_by": [f"{card.name} ({card.id})" for card in cards if _prescribes(card, about.name)],
    }


def _values(about: Parameter) -> list[str]:
    """Type, allowed words and bounds, as verl's table has them."""
    found = None if about.variable else entry(about.name)
    if found is None:
        return []
    lines = [] if found.types == ("any",) else [f"type {' or '.join(found.types)}"]
    lines += [f"one of {', '.join(map(str, found.choices))}"] if found.choices else []
    return lines + [f"{op} {bound:g}" for op, bound in BOUNDS.get(about.name, ())]


def _reads(card: Card, name: str) -> bool:
    texts = [card.applies, *card.let.values(), *(level.when for level in card.levels)]
    return any(f"'{name}'" in text for text in texts)


def _prescribes(card: Card, name: str) -> bool:
    return any(str(remedy["key"]).lstrip("+~") == name for remedy in card.remedies)
