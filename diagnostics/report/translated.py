"""A judged run with its texts in the language that is spoken: it is judged, remembered and piped in English.

The texts of findings, incidents and remedies stand in the cards; what the code says stands in the message files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.engine.model import Finding, Incident, Override, Vital
from klinic.diagnostics.engine.story import story
from klinic.diagnostics.engine.wording import worded
from klinic.diagnostics.language import current_language, tr, translated, use_language
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.verlconfig import check_override, table

if TYPE_CHECKING:
    from klinic.diagnostics.engine.card import Card
    from klinic.diagnostics.run import Config


def translated_case(case: Judged) -> Judged:
    """The same case, told in the language that is spoken; what a card does not have in it stays English."""
    if current_language() == "en":
        return case
    found, config = case.diagnosis, case.run.config
    findings = tuple(map(_finding, found.findings))
    incidents = tuple(_incident(one, config, case.run.source.framework) for one in found.incidents)
    vitals = tuple(map(_vital, found.vitals))
    return Judged(
        case.run,
        replace(
            found,
            story=story(findings, incidents, case.run.steps, vitals),
            vitals=vitals,
            findings=findings,
            incidents=incidents,
            prescription=tuple(_override(one, config) for one in found.prescription),
            not_applicable=tuple(replace(one, missing=translated(one.missing)) for one in found.not_applicable),
            notes=tuple(map(translated, found.notes)),
        ),
    )


@cache
def _cards() -> Mapping[str, Card]:
    return {card.id: card for card in installed_cards()}


def _finding(finding: Finding) -> Finding:
    """A finding with its card's sentences in the language that is spoken."""
    card = _cards().get(finding.id)
    if card is None:
        return finding
    message, why, wrong = (card.text(part, current_language()) for part in ("summary", "why", "wrong_when"))
    return replace(finding, message=message, why=why, wrong_when=wrong)


def _incident(incident: Incident, config: Config, framework: str) -> Incident:
    """Its card's sentences with the gaps filled anew, or those of the code."""
    card, groups = _cards().get(incident.id), dict(incident.captures)

    def part(name: str, said: str) -> str:
        return worded(card.text(name, current_language()), groups, config, framework) if card else translated(said)

    message, cause = part("message", incident.message), part("cause", incident.cause)
    return replace(incident, message=message, cause=cause, fix=part("fix", incident.fix))


def _vital(vital: Vital) -> Vital:
    return replace(vital, title=tr(vital.title), unit=tr(vital.unit), note=translated(vital.note))


def _override(override: Override, config: Config) -> Override:
    return replace(
        override,
        because=_reason(override, "because", override.because),
        effect=_reason(override, "effect", override.effect),
        side_effects=_reason(override, "side_effect", override.side_effects),
        checked=_checked(override, config),
    )


def _reason(override: Override, part: str, said: str) -> str:
    """A remedy's text; what the run itself added stands behind the card's words."""
    card = _cards().get(override.id)
    for mine, theirs in zip(card.remedies, card.tries(current_language()), strict=True) if card else ():
        text = str(mine.get(part) or "")
        if text and said.startswith(text):
            added = re.split(r"(?=; )", said[len(text) :])
            return str(theirs.get(part) or text) + "".join(map(translated, added))
    return said


def _checked(override: Override, config: Config) -> str:
    """What verl would say of the override, asked anew."""

    def asked() -> str:
        found = check_override(override.override.partition("=")[0], override.new, config)
        return found.message or tr("accepted by verl {}", table.version())

    with use_language("en"):
        same = asked() == override.checked
    return asked() if same else translated(override.checked)
