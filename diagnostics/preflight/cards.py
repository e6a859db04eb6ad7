"""Judge a launch by the config cards, with what each says to write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.diagnose import JudgeError, diagnose, installed_cards
from klinic.diagnostics.engine.model import Finding, Severity
from klinic.diagnostics.engine.planned import planned
from klinic.diagnostics.engine.prescribe import prescribe
from klinic.diagnostics.language import current_language
from klinic.diagnostics.preflight.model import Found, Source
from klinic.diagnostics.run import Config, Run
from klinic.diagnostics.run import Source as RunSource
from klinic.diagnostics.signals import compile_text, evaluate
from klinic.diagnostics.verlconfig import facts
from klinic.diagnostics.verlconfig.table import version


def card_findings(source: Source, mended: Mapping[str, Any], rows: int | None) -> Iterator[Found]:
    """Findings of the config cards on the config with what verl refuses put right: what is wrong beside that.

    rows: of the training data, None where unknown.
    """
    cards = tuple(card for card in installed_cards() if card.kind == "config")
    run = _run(source, mended, rows)
    try:
        findings = diagnose(run, cards=cards).findings
    except JudgeError:  # nothing to say of a run without rows
        return
    for finding in findings:
        card = next(card for card in cards if card.id == finding.id)
        keys = tuple(str(remedy["key"]) for remedy in card.remedies)
        place = source.place_of(*_keys_of(card), *keys)
        message = card.text("summary", current_language())
        yield Found(finding.id, finding.name, finding.severity, message, place, "", _write(finding, card, run), keys)


def _run(source: Source, values: Mapping[str, Any], rows: int | None) -> Run:
    user = frozenset(one.key for one in source.written if one.key in values) if source.user else frozenset()
    manifest = {} if rows is None else {"data": {"train_rows": rows}}
    about = RunSource(source.path, "preflight", "verl", version())
    return Run(source=about, config=Config(values, user, (source.path,)), manifest=manifest)


def _keys_of(card: Card) -> list[str]:
    """Keys that the card's expressions read, in order."""
    return [key for text in card.expressions for key in re.findall(r"(?:cfg|set)\('([^']+)'", text)]


def _write(finding: Finding, card: Card, run: Run) -> tuple[str, ...]:
    """The first remedy of the card that fits the run."""
    about, judged = facts(run), planned(run)

    def last(text: str, kind: str) -> Any:
        values = evaluate(compile_text(text, card.scope(), kind), judged, about)
        return values[-1] if len(values) else None

    root = replace(finding, severity=max(finding.severity, Severity.WARN), root_cause=None)
    found = prescribe(
        [root],
        {card.id: card},
        run,
        lambda _card, text: last(text, "truth") is True,
        lambda _card, text: last(text, "number"),
    )
    return tuple(one.override for one in found[:1])
