"""Judge a run: vital signs, findings under their root causes, incidents, prescription, verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import polars as pl

from klinic.diagnostics.engine.card import Card, CardError
from klinic.diagnostics.engine.causes import worst_root
from klinic.diagnostics.engine.chart import Chart
from klinic.diagnostics.engine.confidence import grouped
from klinic.diagnostics.engine.health import health, verdict
from klinic.diagnostics.engine.incidents import ends_without_a_word, match_incidents
from klinic.diagnostics.engine.judge import CardJudgement, Judgement
from klinic.diagnostics.engine.library import all_cards
from klinic.diagnostics.engine.model import Diagnosis, Finding, Incident, NotApplicable, Override, Vital
from klinic.diagnostics.engine.overrides import load_profile, with_overrides
from klinic.diagnostics.engine.planned import planned
from klinic.diagnostics.engine.prescribe import prescribe
from klinic.diagnostics.engine.prescriptioncache import Kind, Readings, prescribed
from klinic.diagnostics.engine.remedysignals import Gauges
from klinic.diagnostics.engine.severity import Outcome, evaluations_apart, severity_now, weighed_outcome
from klinic.diagnostics.engine.story import story
from klinic.diagnostics.engine.vitals import VitalSign, definitions, profile_ranges, with_ranges
from klinic.diagnostics.readers import ReadError
from klinic.diagnostics.readers.registry import ADVICE
from klinic.diagnostics.run import Attempt, Run
from klinic.diagnostics.suggest import closest
from klinic.diagnostics.verlconfig import Facts, facts

Thresholds = Mapping[str, Mapping[str, Any]]
Steps = tuple[int | None, int | None]


class JudgeError(ReadError):
    """The recording holds neither metrics of reinforcement learning nor an incident; the message says what was seen."""


@cache
def installed_cards() -> tuple[Card, ...]:
    """The cards of every installed rule package, loaded once a process. Raises CardError."""
    return all_cards()


def diagnose(
    run: Run,
    *,
    cards: Iterable[Card] | None = None,
    profile: str = "default",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    overrides: Thresholds | None = None,
    steps: Steps | None = None,
) -> Diagnosis:
    """Judge a run as it stands at its last row.

    cards: the installed ones where None. profile: a name or a YAML file. select, ignore: ids, names or families of
    cards, patterns allowed. overrides: rule -> {threshold: value}, over the profile. steps: first and last step to
    judge, None for an open end; rows outside are left out as if they had not been written.
    Raises JudgeError, and CardError for a profile, rule or threshold that does not exist.
    """
    chosen = chosen_cards(cards, profile, select, ignore, overrides)
    run = between(run, *steps) if steps else run
    about = facts(run)
    chart = Chart(chosen, about, signs_of(profile))
    return concluded(run, chart, chosen, about, whole=not (steps and steps[1] is not None))


def chosen_cards(
    cards: Iterable[Card] | None,
    profile: str = "default",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    overrides: Thresholds | None = None,
) -> tuple[Card, ...]:
    """The cards to judge by, with the thresholds to judge by."""
    known = tuple(installed_cards() if cards is None else cards)
    return _chosen(with_overrides(with_overrides(known, load_profile(profile)), overrides or {}), select, ignore)


def signs_of(profile: str) -> tuple[VitalSign, ...]:
    """The vital signs with a profile's ranges."""
    return with_ranges(definitions(), profile_ranges(profile))


def concluded(
    run: Run,
    chart: Chart,
    cards: Sequence[Card],
    about: Facts,
    said: Sequence[Incident] | None = None,
    *,
    whole: bool = True,
) -> Diagnosis:
    """The diagnosis of a run; the chart takes the rows that it has not had yet.

    about: the run's facts. said: the incidents in its text, where they are known. whole: it is judged to its end, so
    that a missing last word says something.
    """
    incidents = _incidents(match_incidents(cards, run) if said is None else said, run, about, whole=whole)
    chart.feed(run, run.frame.height)
    judgement = chart.judge.judge(run)
    _check_judgeable(run, bool(incidents), bool(judgement.findings))
    signs = chart.signs.vitals(run) if run.frame.height else ()
    return _diagnosis(run, chart, cards, about, judgement, signs, incidents)


def _diagnosis(
    run: Run,
    chart: Chart,
    cards: Sequence[Card],
    about: Facts,
    judgement: Judgement,
    signs: tuple[Vital, ...],
    incidents: tuple[Incident, ...],
) -> Diagnosis:
    fired = [judged for judged in judgement.cards if judged.findings]
    outcome = weighed_outcome(run, about, [judged.episodes for judged in fired])
    found = [_finding(judged, outcome) for judged in fired]
    findings = grouped(found, [judged.card for judged in fired], evaluations_apart(run))
    findings = tuple(sorted(findings, key=lambda f: (-f.severity, f.attempt, f.first_step, f.id)))
    return Diagnosis(
        verdict=verdict(findings, incidents),
        health=health(signs, findings, incidents),
        story=story(findings, incidents, run.steps, signs),
        root_cause=root.id if (root := worst_root(findings)) else None,
        vitals=signs,
        findings=findings,
        incidents=incidents,
        prescription=_prescription(run, chart, cards, about, findings),
        not_applicable=_not_applicable(run, judgement),
        notes=run.notes,
    )


def _prescription(
    run: Run, chart: Chart, cards: Sequence[Card], about: Facts, findings: Sequence[Finding]
) -> tuple[Override, ...]:
    plan = planned(run)
    gauges = chart.gauges if plan is run else Gauges(chart.judge.facts)

    def read(card: Card, text: str, kind: Kind) -> float | bool | None:
        return gauges.holds(card, text, plan) if kind == "truth" else gauges.number(card, text, plan)

    def compute(readings: Readings) -> tuple[Override, ...]:
        by_id = {card.id: card for card in cards}
        return prescribe(findings, by_id, run, readings.holds, readings.number, about)

    return prescribed(run, about, cards, findings, read, compute)


def _chosen(cards: Iterable[Card], select: Sequence[str], ignore: Sequence[str]) -> tuple[Card, ...]:
    cards = tuple(cards)
    for word in (*select, *ignore):
        if not any(_named(card, word) for card in cards):
            raise CardError(f"no rule, name or family {word!r}{_nearest(word, cards)}")
    return tuple(
        card
        for card in cards
        if (not select or any(_named(card, word) for word in select)) and not any(_named(card, word) for word in ignore)
    )


def _named(card: Card, word: str) -> bool:
    return any(fnmatchcase(text.lower(), word.lower()) for text in (card.id, card.name, card.family))


def _nearest(word: str, cards: Iterable[Card]) -> str:
    texts = {text for card in cards for text in (card.id, card.name, card.family)}
    close = f"{word}*" if sum(text.lower().startswith(word.lower()) for text in texts) > 1 else closest(word, texts)
    return f"; did you mean {close!r}?" if close else ""


def between(run: Run, first: int | None, last: int | None) -> Run:
    """The run with the rows of steps [first, last] only; text lines stay, they have no step."""
    if not run.frame.height:
        return run
    step = run.frame["step"]
    keep = step >= (first if first is not None else step.min())
    keep = keep & (step <= (last if last is not None else step.max()))
    frame = run.frame.filter(keep)
    nonfinite = run.nonfinite.filter(keep) if run.nonfinite.width else run.nonfinite
    return replace(run, frame=frame, nonfinite=nonfinite, attempts=_attempts(frame))


def _attempts(frame: pl.DataFrame) -> tuple[Attempt, ...]:
    """Stretches of one attempt each; the rows of one attempt stand together."""
    numbered = frame.select("attempt", "step").with_row_index("row")
    parts = numbered.partition_by("attempt", maintain_order=True)
    return tuple(
        Attempt(
            number=part["attempt"][0],
            first_row=part["row"][0],
            rows=part.height,
            first_step=min(part["step"]),
            last_step=max(part["step"]),
        )
        for part in parts
    )


def _incidents(said: Sequence[Incident], run: Run, about: Facts, *, whole: bool) -> tuple[Incident, ...]:
    """What the text says; and, where the whole run is judged and nothing else tells its end, that it has none."""
    silent = ends_without_a_word(run, about) if whole and not said else None
    return (*said, silent) if silent else tuple(said)


def _check_judgeable(run: Run, incidents: bool, findings: bool) -> None:
    """An incident or a config at fault can be told without metrics; metrics of something else than RL cannot."""
    where = run.source.path
    if run.source.not_rl and not incidents:
        raise JudgeError(f"{where}: not a reinforcement-learning log: {run.source.not_rl}")
    if not incidents and not findings and not (run.metrics and run.frame.height):
        if run.metrics:
            raise JudgeError(f"{where}: no rows in the steps asked for")
        lines = "1 line" if run.last_line == 1 else f"{run.last_line} lines"
        seen = f"{lines} read as {run.source.format or 'text'}: no metrics and no known incident"
        raise JudgeError("; ".join([f"{where}: {seen}", *(run.notes[:1] or (ADVICE,))]))


def _finding(judged: CardJudgement, outcome: Outcome) -> Finding:
    """One finding a card: those of several attempts merged, with the severity at the last step."""
    found = judged.findings
    worst, latest = max(found, key=lambda finding: finding.peak), found[-1]
    return replace(
        worst,
        severity=severity_now(judged.episodes, outcome),
        first_step=found[0].first_step,
        last_step=latest.last_step,
        attempt=found[0].attempt,
        closed=latest.closed,
        episodes=tuple(episode for finding in found for episode in finding.episodes),
        warned=next((finding.warned for finding in found if finding.warned is not None), None),
    )


def _not_applicable(run: Run, judgement: Judgement) -> tuple[NotApplicable, ...]:
    if run.frame.height:
        return judgement.not_applicable
    configs = {card.card.id for card in judgement.cards if card.card.kind == "config"}
    gone = "no metrics in the log"
    return tuple(one if one.id in configs else replace(one, missing=gone) for one in judgement.not_applicable)
