"""Crashes and messages of note in a run's text: which incident cards they meet, the cause before what follows."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.model import Incident, Severity
from klinic.diagnostics.engine.textmatch import MAX_SPAN, PatternMatch, TextMatcher
from klinic.diagnostics.engine.wording import worded
from klinic.diagnostics.run import Config, Run
from klinic.diagnostics.run.state import state as run_state
from klinic.diagnostics.verlconfig import Facts

REACH = 500  # lines around a cause within which its consequences are folded under it
MAX_QUOTE = 300
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Hit:
    """A card that met the text: the incident as worded where it first did, and all lines where it did.

    rank: the pattern's place in the card; cards list what tells most first.
    """

    card: Card
    incident: Incident
    lines: tuple[int, ...]
    rank: int

    @cached_property
    def wording(self) -> str:
        """What it says, numbers apart."""
        return _DIGITS.sub("#", self.incident.message)


class Incidents:
    """The incidents of one recording while its text grows; cards: of any kind, incident cards count."""

    def __init__(self, cards: Iterable[Card], lang: str = "en") -> None:
        self._patterns = [
            (card, rank, match) for card in cards if card.kind == "incident" for rank, match in enumerate(card.matches)
        ]
        self._matcher = TextMatcher([match.pattern for *_, match in self._patterns])
        self._lang = lang
        self._worded_for: tuple[Config, str] | None = None
        self._met: tuple[PatternMatch, ...] = ()
        self._worded: dict[PatternMatch, Hit] = {}
        self._found: tuple[Incident, ...] = ()

    def match(self, run: Run) -> tuple[Incident, ...]:
        """Incidents in the run's text: the worst first, then by line; each wording once, with a count.

        What another incident near it explains is folded under that one: a card named in its `explains`, and any card
        of low confidence (those name consequences: a dead actor, an uncaught exception) beside a surer one.
        A pattern's group `at` says where the line to show begins, else it is the match's first.
        """
        met, writer = self._matcher.match(run.lines), run.source.framework
        same = self._worded_for is not None and run.config is self._worded_for[0] and writer == self._worded_for[1]
        if met is not self._met or not same:
            known = self._worded if same else {}
            self._worded = {one: known.get(one) or self._hit(one, run.config, writer) for one in met}
            self._met, self._worded_for = met, (run.config, writer)
            kept = _folded(_merged(_once_a_line(self._worded.values())))
            self._found = tuple(sorted((hit.incident for hit in kept), key=lambda one: (-one.severity, one.line)))
        return self._found

    def _hit(self, met: PatternMatch, config: Config, framework: str) -> Hit:
        card, rank, match = self._patterns[met.pattern]
        groups = dict(met.groups)
        message, cause, fix = (
            worded(card.text(part, self._lang), groups, config, framework) for part in ("message", "cause", "fix")
        )
        incident = Incident(
            id=card.id,
            name=card.name,
            severity=match.severity,
            line=met.line.line,
            text=met.line.text.strip()[:MAX_QUOTE],
            message=message,
            cause=cause,
            fix=fix,
            captures=met.groups,
        )
        return Hit(card, incident, (met.line.line,), rank)


def match_incidents(cards: Iterable[Card], run: Run, lang: str = "en") -> list[Incident]:
    """Incidents in a run's text: see `Incidents.match`."""
    return list(Incidents(cards, lang).match(run))


def _once_a_line(hits: Iterable[Hit]) -> Iterator[Hit]:
    """A line counts once for a card, for the pattern that tells most."""
    seen: set[tuple[str, int]] = set()
    for hit in hits:
        place = hit.card.id, hit.incident.line
        if place not in seen:
            seen.add(place)
            yield hit


def _merged(hits: Iterable[Hit]) -> list[Hit]:
    """One hit for each card and wording, counted; a lesser pattern near a telling one is the same hit."""
    merged: dict[str, list[_Group]] = {}
    for hit in sorted(hits, key=lambda hit: (hit.rank, hit.incident.line)):
        groups = merged.setdefault(hit.card.id, [])
        group = next((group for group in groups if group.takes(hit)), None)
        if group is None:
            groups.append(_Group(hit))
        else:
            group.hits.append(hit)
    return [group.joined() for groups in merged.values() for group in groups]


class _Group:
    """Hits of one card that count as one."""

    def __init__(self, first: Hit) -> None:
        self.first, self.hits = first, [first]

    def takes(self, hit: Hit) -> bool:
        """Whether a hit is worded alike but for its numbers, or is a lesser one near by."""
        if self.first.wording == hit.wording:
            return True
        lesser = self.first.rank < hit.rank
        return lesser and any(abs(one.incident.line - hit.incident.line) <= MAX_SPAN for one in self.hits)

    def joined(self) -> Hit:
        """The first of them, with all their lines."""
        lines = tuple(hit.incident.line for hit in self.hits)
        worst = max(hit.incident.severity for hit in self.hits)
        return replace(self.first, lines=lines, incident=replace(self.first.incident, count=len(lines), severity=worst))


def _folded(hits: list[Hit]) -> list[Hit]:
    return [hit for hit in hits if not any(_explains(other, hit) for other in hits)]


def _explains(cause: Hit, effect: Hit) -> bool:
    surer = effect.card.confidence == "low" and cause.card.confidence != "low"
    outweighs = surer and cause.incident.severity >= effect.incident.severity
    if cause is effect or not (outweighs or effect.card.name in cause.card.explains):
        return False
    known = sorted(cause.lines)
    return any(_close(known, line) for line in effect.lines)


def _close(lines: Sequence[int], line: int) -> bool:
    """Whether one of some rising lines lies within reach of a line."""
    at = bisect_left(lines, line - REACH)
    return at < len(lines) and lines[at] <= line + REACH


def ends_without_a_word(run: Run, facts: Facts) -> Incident | None:
    """The run stops before its planned steps with neither an error nor an end: warn for a run directory, else info.

    A bare log may merely have been cut or copied early, and has no process that could be asked.
    """
    last = run.steps[1] if run.steps else None
    total = facts.total_steps
    if last is None or total is None or last >= total or facts.framework not in ("verl", ""):
        return None
    state = run_state(run) if run.manifest else "unknown"
    if state in ("running", "stalled", "finished", "failed", "stopped") or _ended(run):
        return None
    recorded = state == "interrupted"
    return Incident(
        id="INC00",
        name="ends-without-a-word",
        severity=Severity.WARN if recorded else Severity.INFO,
        line=run.last_line,
        text=run.lines[-1].text.strip()[:MAX_QUOTE] if run.lines else "",
        message=f"the run ends without a word at step {last} of {total}"
        if recorded
        else f"the log ends without a word at step {last} of {total}",
        cause=_KILLED if recorded else _KILLED_OR_CUT,
        fix="look for the kill in `dmesg` and in the scheduler's log; start the same command again: "
        "trainer.resume_mode=auto takes up the last checkpoint (trainer.save_freq says how much is lost)",
    )


_KILLED = (
    "a killed process writes nothing: SIGKILL, the kernel's or Ray's memory guard, a lost node, a job's time limit"
)
_KILLED_OR_CUT = (
    "a killed process writes nothing: SIGKILL, the kernel's or Ray's memory guard, a lost node, a job's time limit; "
    "or the log was cut or copied while the run went on"
)
_LAST_WORDS = re.compile(r"Final validation metrics|train_runtime|^Traceback|(?:Error|Exception)\b.*:", re.MULTILINE)


def _ended(run: Run) -> bool:
    """Whether something of an end was seen: an event, a last word of the trainer, an error in the tail."""
    tail = "\n".join(line.text for line in run.lines if line.line > run.last_line - 60)
    return any(event.kind in ("finished", "stop", "failed") for event in run.events) or bool(_LAST_WORDS.search(tail))
