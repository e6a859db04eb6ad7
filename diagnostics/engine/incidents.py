"""Crashes and messages of note in a run's text: which incident cards they meet, the cause before what follows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.model import Incident, Severity
from klinic.diagnostics.engine.wording import worded
from klinic.diagnostics.run import Line, Run
from klinic.diagnostics.run.state import state as run_state
from klinic.diagnostics.verlconfig import Facts

MAX_SPAN = 100  # lines that one match may span
REACH = 500  # lines around a cause within which its consequences are folded under it
MAX_QUOTE = 300
_DIGITS = re.compile(r"\d+")


class Text:
    """The kept lines as one text, with the way back from a place in it to its line."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.whole = "\n".join(line.text for line in lines)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line.text) + 1)

    def line_at(self, place: int) -> Line:
        """The line that holds a place."""
        return self.lines[min(bisect_right(self._starts, place) - 1, len(self.lines) - 1)]


@dataclass(frozen=True)
class Hit:
    """A card that met the text: the incident as worded where it first did, and all lines where it did.

    rank: the pattern's place in the card; cards list what tells most first.
    """

    card: Card
    incident: Incident
    lines: tuple[int, ...]
    rank: int


def match_incidents(cards: Iterable[Card], run: Run, lang: str = "en") -> list[Incident]:
    """Incidents in the run's text: the worst first, then by line; each wording once, with a count.

    What another incident near it explains is folded under that one: a card named in its `explains`, and any card
    of low confidence (those name consequences: a dead actor, an uncaught exception) beside a surer one.
    A pattern's group `at` says where the line to show begins, else it is the match's first.
    """
    text = Text(run.lines)
    hits = [hit for card in cards if card.kind == "incident" for hit in _hits(card, text, run, lang)]
    kept = _folded(_merged(hits))
    return sorted((hit.incident for hit in kept), key=lambda one: (-one.severity, one.line))


def _hits(card: Card, text: Text, run: Run, lang: str) -> Iterator[Hit]:
    seen: set[int] = set()
    for rank, match in enumerate(card.matches):
        for found in _compiled(match.pattern).finditer(text.whole):
            line = text.line_at(found.start("at" if "at" in found.groupdict() else 0))
            span = found.group().count("\n")
            if line.line in seen or span > (MAX_SPAN if "(?s" in match.pattern else 0):
                continue
            seen.add(line.line)
            yield Hit(card, _incident(card, match.severity, line, found, run, lang), (line.line,), rank)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _incident(card: Card, severity: Severity, line: Line, found: re.Match[str], run: Run, lang: str) -> Incident:
    named = {name: value for name, value in found.groupdict().items() if value is not None and name != "at"}
    groups = {name: " ".join(value.split()) for name, value in named.items()}
    message, cause, fix = (worded(card.text(part, lang), groups, run.config) for part in ("message", "cause", "fix"))
    return Incident(
        id=card.id,
        name=card.name,
        severity=severity,
        line=line.line,
        text=line.text.strip()[:MAX_QUOTE],
        message=message,
        cause=cause,
        fix=fix,
        captures=tuple(sorted(groups.items())),
    )


def _merged(hits: Iterable[Hit]) -> list[Hit]:
    """One hit for each card and wording, counted; a lesser pattern near a telling one is the same hit."""
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.rank, hit.incident.line)):
        place = next((place for place, first in enumerate(merged) if _same(first, hit)), None)
        if place is None:
            merged.append(hit)
        else:
            merged[place] = _joined(merged[place], hit)
    return merged


def _same(first: Hit, hit: Hit) -> bool:
    if first.card.id != hit.card.id:
        return False
    near = any(abs(line - hit.incident.line) <= MAX_SPAN for line in first.lines)
    alike = _DIGITS.sub("#", first.incident.message) == _DIGITS.sub("#", hit.incident.message)
    return alike or (first.rank < hit.rank and near)


def _joined(first: Hit, again: Hit) -> Hit:
    lines = (*first.lines, *again.lines)
    worst = max(first.incident.severity, again.incident.severity)
    return replace(first, lines=lines, incident=replace(first.incident, count=len(lines), severity=worst))


def _folded(hits: list[Hit]) -> list[Hit]:
    return [hit for hit in hits if not any(_explains(other, hit) for other in hits)]


def _explains(cause: Hit, effect: Hit) -> bool:
    if cause is effect or all(abs(one - other) > REACH for one in cause.lines for other in effect.lines):
        return False
    if effect.card.name in cause.card.explains:
        return True
    surer = effect.card.confidence == "low" and cause.card.confidence != "low"
    return surer and cause.incident.severity >= effect.incident.severity


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
        message=f"the {'run' if recorded else 'log'} ends without a word at step {last} of {total}",
        cause="a killed process writes nothing: SIGKILL, the kernel's or Ray's memory guard, a lost node, a job's time "
        "limit" + ("" if recorded else "; or the log was cut or copied while the run went on"),
        fix="look for the kill in `dmesg` and in the scheduler's log; start the same command again: "
        "trainer.resume_mode=auto takes up the last checkpoint (trainer.save_freq says how much is lost)",
    )


_LAST_WORDS = re.compile(r"Final validation metrics|train_runtime|^Traceback|(?:Error|Exception)\b.*:", re.MULTILINE)


def _ended(run: Run) -> bool:
    """Whether something of an end was seen: an event, a last word of the trainer, an error in the tail."""
    tail = "\n".join(line.text for line in run.lines if line.line > run.last_line - 60)
    return any(event.kind in ("finished", "stop", "failed") for event in run.events) or bool(_LAST_WORDS.search(tail))
