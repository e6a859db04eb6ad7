"""How sure a finding is: as its card where it stands alone, less where another cause could have done the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.causes import Relations, with_causes
from klinic.diagnostics.engine.model import Confidence, Finding, Severity

# Right in 96 of 100 where a card of high confidence stood alone, in 54 beside a rival: docs/accuracy.md.
LESS: Mapping[Confidence, Confidence] = {"high": "medium", "medium": "low", "low": "low"}


def grouped(findings: Sequence[Finding], cards: Iterable[Card], apart: int = 0) -> tuple[Finding, ...]:
    """The findings of these cards under their root causes, each as sure as it is among the others.

    apart: steps between two evaluations of the run, by which a card that is judged at these may be late.
    """
    relations = {card.name: _relations(card, apart) for card in cards}
    return with_confidence(with_causes(findings, relations), relations)


def _relations(card: Card, apart: int) -> Relations:
    alike = tuple(str(item["name"]) for item in card.data.get("look_alikes") or ())
    late = apart if any(level.unit == "evals" for level in card.levels) else 0
    return Relations(card.explains, alike, late)


def with_confidence(findings: Sequence[Finding], relations: Mapping[str, Relations]) -> tuple[Finding, ...]:
    """The findings, grouped under their causes already, with `rivals` set; a root that has some is one grade less sure.

    relations: card's name -> Relations.
    """
    return tuple(_weighed(finding, findings, relations) for finding in findings)


def _weighed(finding: Finding, findings: Sequence[Finding], relations: Mapping[str, Relations]) -> Finding:
    rivals = tuple(other.name for other in findings if _rival(other, finding, relations))
    return replace(finding, rivals=rivals, confidence=LESS[finding.confidence]) if rivals else finding


def _rival(other: Finding, finding: Finding, relations: Mapping[str, Relations]) -> bool:
    """Whether both are roots that need a look, and their cards take one for the other or claim the same effects."""
    roots = other.root_cause is None and finding.root_cause is None and other.id != finding.id
    if not roots or min(other.severity, finding.severity) < Severity.WARN:
        return False
    mine, theirs = (relations.get(one.name, Relations()) for one in (finding, other))
    named = other.name in (*mine.explains, *mine.look_alikes) or finding.name in (*theirs.explains, *theirs.look_alikes)
    return named or not set(mine.explains).isdisjoint(theirs.explains)
