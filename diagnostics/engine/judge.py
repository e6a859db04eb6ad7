"""Judge a run by cards: the same code offline, on one big block, and live, on new rows only."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from klinic.diagnostics.engine.card import Card, with_overrides
from klinic.diagnostics.engine.compiled import CompiledCard, compile_card
from klinic.diagnostics.engine.episodes import Episode, EpisodeBook
from klinic.diagnostics.engine.findings import findings_of
from klinic.diagnostics.engine.model import Finding, NotApplicable, Severity
from klinic.diagnostics.engine.patience import Patience
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


class CardState:
    """One card while rows arrive."""

    def __init__(self, compiled: CompiledCard) -> None:
        self.compiled = compiled
        self.patience = [Patience(level.level.k, level.level.of) for level in compiled.levels]
        self.book = EpisodeBook()
        self.severities: list[pl.Series] = []
        self.appeared: set[str] = set()
        self.judged = False  # some row was known
        self.applied: bool | None = None  # what `applies` last said

    def take(
        self, block: Block, evaluator: Evaluator, attempts: Sequence[int], validated: pl.Series, last: int
    ) -> None:
        """Judge the block's rows. `last`: the attempt of the row before."""
        truths = self._truths(block, evaluator, validated)
        if all(patience.idle for patience in self.patience) and not any(truth.any() for truth in truths):
            self.severities.append(pl.repeat(0, block.height, eager=True, dtype=pl.Int8))
        else:
            self.severities.append(self._count(block, truths, attempts, last))

    def _truths(self, block: Block, evaluator: Evaluator, validated: pl.Series) -> list[pl.Series]:
        able = self._able(block, evaluator)
        truths = []
        for level in self.compiled.levels:
            stream = evaluator.stream(level.node)
            values = stream.series(block.height, pl.Boolean)
            counts = stream.known(block.height, pl.Boolean) & able
            if level.level.unit == "evals":
                counts = counts & validated
            truths.append(values.set(~counts, None))
            self.judged = self.judged or bool(counts.any())
        return truths

    def _able(self, block: Block, evaluator: Evaluator) -> pl.Series:
        """Rows at which the card applies and has what it needs."""
        able = self._supplied(block)
        if self.compiled.applies is None:
            return able
        applies = evaluator.stream(self.compiled.applies).series(block.height, pl.Boolean)
        self.applied = applies[-1]
        return able & applies.fill_null(False)

    def _supplied(self, block: Block) -> pl.Series:
        supplied = pl.repeat(True, block.height, eager=True, dtype=pl.Boolean)
        for need in self.compiled.card.needs:
            if need in self.appeared:
                continue
            seen = _appeared(need, block)
            supplied = supplied & seen
            if seen[-1]:
                self.appeared.add(need)
        return supplied

    def _count(self, block: Block, truths: list[pl.Series], attempts: Sequence[int], last: int) -> pl.Series:
        rows = [truth.to_list() for truth in truths]
        out = [0] * block.height
        for index in range(block.height):
            if attempts[index] != last:
                last = attempts[index]
                for patience in self.patience:
                    patience.reset()
            severity, onset = self._row(block.first + index, [row[index] for row in rows])
            out[index] = int(severity)
            self.book.take(block.first + index, last, severity, onset)
        return pl.Series(out, dtype=pl.Int8)

    def _row(self, row: int, truths: list[bool | None]) -> tuple[Severity, int | None]:
        severity, onset = Severity.NONE, None
        for level, patience, held in zip(self.compiled.levels, self.patience, truths, strict=True):
            if patience.take(row, held) and not severity:
                severity, onset = level.severity, patience.onset
        return severity, onset

    def missing(self) -> str:
        """What the card lacked, in words."""
        lacking = [need for need in self.compiled.card.needs if need not in self.appeared]
        if lacking:
            return ", ".join(lacking)
        if self.compiled.applies is not None and not self.applied:
            verb = "unknown whether" if self.applied is None else "holds only where"
            return f"{verb} {self.compiled.card.applies}"
        return "too few values"


def _appeared(need: str, block: Block) -> pl.Series:
    """From which row of the block on one of the metrics of `a | b` has been there."""
    seen = pl.repeat(False, block.height, eager=True, dtype=pl.Boolean)
    for pattern in (part.strip() for part in need.split("|")):
        for name in fnmatch.filter(block.run.metrics, pattern) if "*" in pattern else [pattern]:
            seen = seen | block.seen(name)
    return seen.cast(pl.UInt8).cum_max() > 0


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
        chosen = with_overrides([card for card in cards if card.kind != "incident"], overrides or {})
        self.facts: Facts = facts or PlainFacts()
        self.compiled = tuple(compile_card(card) for card in chosen)
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
        attempts = run.frame["attempt"].slice(block.first, block.height).to_list()
        validated = evaluated(block)
        before = self._attempt if self._rows else attempts[0]
        for state in self._states:
            state.take(block, self._evaluator, attempts, validated, before)
        self._rows, self._attempt = block.last, attempts[-1]

    def judge(self, run: Run) -> Judgement:
        """Feed what is new and say how things stand."""
        self.feed(run)
        return Judgement(tuple(self._judgement(state, run) for state in self._states))

    def _judgement(self, state: CardState, run: Run) -> CardJudgement:
        episodes = tuple(state.book.all())
        verdict: State = "fires" if episodes else ("quiet" if state.judged else "not_applicable")
        severity = pl.concat(state.severities) if state.severities else pl.Series(dtype=pl.Int8)
        findings = findings_of(state.compiled, episodes, run, self.facts, self._attempt)
        missing = state.missing() if verdict == "not_applicable" else ""
        return CardJudgement(state.compiled.card, verdict, missing, severity, episodes, findings)


def judge(run: Run, cards: Iterable[Card], facts: Facts | None = None, overrides: Any = None) -> Judgement:
    """Judge a whole run at once."""
    return Judge(cards, facts, overrides).judge(run)
