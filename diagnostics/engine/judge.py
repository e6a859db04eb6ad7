"""Judge a run by cards: the same code offline, on one big block, and live, on new rows only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from klinic.diagnostics.engine.card import Card, with_overrides
from klinic.diagnostics.engine.cardstate import CardState
from klinic.diagnostics.engine.episodes import Episode
from klinic.diagnostics.engine.findings import findings_of
from klinic.diagnostics.engine.model import Finding, NotApplicable
from klinic.diagnostics.engine.planned import planned
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Block, Evaluator, Facts, PlainFacts
from klinic.diagnostics.signals.counting import evaluated

State = Literal["fires", "quiet", "not_applicable"]


@dataclass(frozen=True)
class CardJudgement:
    """What one card says of a run.

    state: `fires` when it fired at any row; `not_applicable` when it could not judge a single row, `missing`
    says what it lacked. severity: Int8, one a row (0 none, 1 info, 2 warn, 3 error). episodes in order.
    """

    card: Card
    state: State
    missing: str
    severity: pl.Series
    episodes: tuple[Episode, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Judgement:
    """What all cards say of a run, in the cards' order."""

    cards: tuple[CardJudgement, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of all cards, by first step."""
        found = (finding for card in self.cards for finding in card.findings)
        return tuple(sorted(found, key=lambda finding: (finding.attempt, finding.first_step, finding.id)))

    @property
    def not_applicable(self) -> tuple[NotApplicable, ...]:
        """Cards that could not judge this run."""
        silent = (judged for judged in self.cards if judged.state == "not_applicable")
        return tuple(NotApplicable(judged.card.id, judged.card.name, judged.missing) for judged in silent)

    def of(self, rule: str) -> CardJudgement:
        """One card's judgement, by id or name. Raises KeyError."""
        for judged in self.cards:
            if rule in (judged.card.id, judged.card.name):
                return judged
        raise KeyError(rule)


class Judge:
    """Judges one run by metric and config cards. Rows are fed in order; nothing is evaluated twice.

    overrides: rule id or name -> {threshold: value, level: ...}, see `with_overrides`.
    """

    def __init__(
        self,
        cards: Iterable[Card],
        facts: Facts | None = None,
        overrides: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._cards = with_overrides([card for card in cards if card.kind != "incident"], overrides or {})
        self.facts: Facts = facts or PlainFacts()
        self.compiled = tuple(card.compiled for card in self._cards)
        self._states = [CardState(card) for card in self.compiled]
        self._evaluator = Evaluator(node for card in self.compiled for node in card.roots())
        self._rows = 0
        self._attempt = 1

    @property
    def rows(self) -> int:
        """Rows judged so far."""
        return self._rows

    def feed(self, run: Run, from_row: int | None = None) -> None:
        """Judge the rows of `run` that are new; the frame holds all rows so far. `from_row` checks where it goes on."""
        if from_row is not None and from_row != self._rows:
            raise ValueError(f"the judge stands at row {self._rows}, not {from_row}")
        if run.frame.height <= self._rows:
            return
        block = Block(run, self._rows, run.frame.height, self.facts)
        self._evaluator.advance(block)
        validated = evaluated(block)
        before = self._attempt if self._rows else block.attempts[0]
        for state in self._states:
            state.take(block, self._evaluator, validated, before)
        self._rows, self._attempt = block.last, block.attempts[-1]

    def judge(self, run: Run) -> Judgement:
        """Feed what is new and say how things stand; before the first row the config alone is judged."""
        self.feed(run)
        plan = planned(run)
        if plan is not run:
            return Judge(self._cards, self.facts).judge(plan)
        return Judgement(tuple(self._judgement(state, run) for state in self._states))

    def _judgement(self, state: CardState, run: Run) -> CardJudgement:
        episodes = tuple(state.book.all())
        verdict: State = "fires" if episodes else ("quiet" if state.judged else "not_applicable")
        state.severities = [np.concatenate([np.empty(0, np.int8), *state.severities])]
        severity = pl.Series(state.severities[0], dtype=pl.Int8)
        findings = findings_of(state.compiled, episodes, run, self.facts, self._attempt)
        missing = state.missing() if verdict == "not_applicable" else ""
        return CardJudgement(state.compiled.card, verdict, missing, severity, episodes, findings)


def judge(run: Run, cards: Iterable[Card], facts: Facts | None = None, overrides: Any = None) -> Judgement:
    """Judge a whole run at once."""
    return Judge(cards, facts, overrides).judge(run)
