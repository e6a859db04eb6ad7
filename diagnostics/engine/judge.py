"""Judge a run by cards: the same code offline, on one big block, and live, on new rows only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.cardstate import CardState, unfolded
from klinic.diagnostics.engine.compiled import compiled
from klinic.diagnostics.engine.episodes import Episode
from klinic.diagnostics.engine.evidence import View
from klinic.diagnostics.engine.findings import Steps, findings_of
from klinic.diagnostics.engine.model import Finding, NotApplicable
from klinic.diagnostics.engine.overrides import with_overrides
from klinic.diagnostics.engine.planned import planned
from klinic.diagnostics.run import Run
from klinic.diagnostics.shallowcopy import shallow_copy
from klinic.diagnostics.signals import Block, Evaluator, Facts, PlainFacts
from klinic.diagnostics.signals.block import blocks
from klinic.diagnostics.signals.counting import evaluated

State = Literal["fires", "quiet", "not_applicable"]


@dataclass(frozen=True)
class CardJudgement:
    """What one card says of a run.

    state: `fires` when it fired at any row; `not_applicable` when it could not judge a single row, `missing`
    says what it lacked. changes: (row, severity from that row on). episodes in order. rows: number of rows judged.
    """

    card: Card
    state: State
    missing: str
    changes: tuple[tuple[int, int], ...]
    episodes: tuple[Episode, ...]
    findings: tuple[Finding, ...]
    rows: int

    @cached_property
    def severity(self) -> pl.Series:
        """Int8, one a row: 0 none, 1 info, 2 warn, 3 error."""
        return pl.Series(unfolded(self.changes, self.rows), dtype=pl.Int8)


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
    Cards whose metrics the run does not have sleep: their expressions are evaluated from the first row on once it has.
    """

    def __init__(
        self,
        cards: Iterable[Card],
        facts: Facts | None = None,
        overrides: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._cards = with_overrides([card for card in cards if card.kind != "incident"], overrides or {})
        self.facts: Facts = facts or PlainFacts()
        self.compiled = tuple(compiled(card) for card in self._cards)
        self._states = [CardState(card) for card in self.compiled]
        self._awake: list[tuple[Evaluator, list[int]]] = []  # numbers of the cards that an evaluator serves
        self._asleep = list(range(len(self._states)))
        self._rows = 0
        self._attempt = 1

    @property
    def rows(self) -> int:
        """Rows judged so far."""
        return self._rows

    def fork(self) -> Judge:
        """A judge that stands where this one does and goes its own way from here."""
        other = shallow_copy(self)
        other._states = self._states.copy()
        other._awake = [(evaluator.fork(), cards) for evaluator, cards in self._awake]
        other._asleep = self._asleep.copy()
        return other

    def feed(self, run: Run, from_row: int | None = None, to_row: int | None = None) -> None:
        """Judge the rows of `run` that are new; the frame holds all rows so far.

        from_row: checks where it goes on. to_row: where it stops, the last row where None.
        """
        if from_row is not None and from_row != self._rows:
            raise ValueError(f"the judge stands at row {self._rows}, not {from_row}")
        for block in blocks(run, self._rows, run.frame.height if to_row is None else to_row, self.facts):
            self._take(block)

    def _take(self, block: Block) -> None:
        self._wake(block)
        validated = evaluated(block)
        before = self._attempt if self._rows else block.attempts[0]
        for evaluator, cards in self._awake:
            evaluator.advance(block)
            view = View(block, evaluator)
            for card in cards:
                self._states[card] = self._states[card].take(view, validated, before)
        for card in self._asleep:
            self._states[card] = self._states[card].supplied(block)
        self._rows, self._attempt = block.last, block.attempts[-1]

    def rest(self) -> None:
        """Let go of the last block's values: a judge that waits for more rows holds little."""
        for evaluator, _ in self._awake:
            evaluator.rest()

    def _wake(self, block: Block) -> None:
        """Let the cards judge whose metrics have appeared; they were unknown at every row before."""
        woken = [card for card in self._asleep if self._states[card].wanted(block.run)]
        if woken:
            evaluator = Evaluator(node for card in woken for node in self._states[card].compiled.roots())
            for earlier in blocks(block.run, 0, block.first, self.facts):
                evaluator.advance(earlier)
            self._awake.append((evaluator, woken))
            self._asleep = [card for card in self._asleep if card not in woken]

    def judge(self, run: Run) -> Judgement:
        """Feed what is new and say how things stand; before the first row the config alone is judged."""
        self.feed(run)
        plan = planned(run)
        if plan is not run:
            return Judge(self._cards, self.facts).judge(plan)
        steps = run.frame["step"].to_numpy() if run.frame.height else np.empty(0, np.int64)
        return Judgement(tuple(self._judgement(state, steps) for state in self._states))

    def _judgement(self, state: CardState, steps: Steps) -> CardJudgement:
        episodes = tuple(state.book.all())
        verdict: State = "fires" if episodes else ("quiet" if state.judged else "not_applicable")
        changes = tuple(state.changes)
        findings = findings_of(state.witness, episodes, changes, steps, self._attempt) if episodes else ()
        missing = state.missing() if verdict == "not_applicable" else ""
        return CardJudgement(state.compiled.card, verdict, missing, changes, episodes, findings, self._rows)


def judge(run: Run, cards: Iterable[Card], facts: Facts | None = None, overrides: Any = None) -> Judgement:
    """Judge a whole run at once."""
    return Judge(cards, facts, overrides).judge(run)
