"""Fit thresholds and vital ranges to healthy runs of one recipe: what their own spread allows, never less."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.judge import judge
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.overrides import with_overrides
from klinic.diagnostics.engine.vitals import VitalSign
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Scope, compile_text, evaluate
from klinic.diagnostics.verlconfig import facts

STEPS = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)  # by how much a threshold is moved to see what healthy runs bear
WORTH, MOST = 3.0, 3.0  # a threshold that bears less is left where it is; none is drawn closer by more
COUNTED = ("step", "eval", "update", "row", "value", "batch", "version")  # units of patience, not of size
NARROW, WIDE = 1.25, 2.0  # ranges: healthy and abnormal bounds, as factors beyond what was seen
SETTLED, STEADY = 0.25, 3.0  # vitals: the first quarter is left out; largest over smallest


@dataclass(frozen=True)
class Calibration:
    """What was fitted. rules: card -> {threshold: value}; vitals: sign -> bounds; why: card -> a remark a threshold.

    loud: cards that warn of a healthy run whatever a single threshold of theirs is.
    """

    rules: Mapping[str, Mapping[str, float]]
    vitals: Mapping[str, Mapping[str, Mapping[str, float]]]
    why: Mapping[str, str] = field(default_factory=dict)
    loud: tuple[str, ...] = ()


def calibrate(runs: Sequence[Run], cards: Sequence[Card], signs: Sequence[VitalSign]) -> Calibration:
    """Fit metric cards and vital signs to runs that are known to be healthy.

    A card that rises above info on any row of a run is loosened by the smallest change of one threshold that keeps it
    quiet, and one step more. A threshold that healthy runs stay far from (threefold or more) is drawn closer, to the
    geometric middle between where it stood and where they would have touched it, by a factor of three at most; errors
    stay as they are. Both are tried on the runs themselves.
    """
    rules, why, loud = {}, {}, []
    for card in cards:
        if card.kind != "metric" or not card.thresholds:
            continue
        quiet = _Quiet(card, runs)
        found = _tightened(quiet) if quiet({}) else _loosened(quiet)
        if found is None:
            loud.append(card.name)
        elif found:
            rules[card.name] = found
            why[card.name] = ", ".join(f"{name} was {card.thresholds[name].value:g}" for name in found)
    return Calibration(rules, dict(_ranges(runs, signs)), why, tuple(loud))


class _Quiet:
    """Whether a card with other thresholds stays at info or below on every row of every run."""

    def __init__(self, card: Card, runs: Sequence[Run]) -> None:
        self.card, self.runs = card, runs

    def __call__(self, values: Mapping[str, float]) -> bool:
        (card,) = with_overrides((self.card,), {self.card.name: values})
        return all(_worst(run, card) <= Severity.INFO for run in self.runs)

    def sizes(self) -> Iterator[tuple[str, float]]:
        """Thresholds that are sizes of something; counts of rows are patience."""
        for name, one in self.card.thresholds.items():
            if one.value and not any(word in one.unit for word in COUNTED):
                yield name, one.value

    def sooner(self) -> Iterator[tuple[str, float]]:
        """Those that may be drawn closer: what is an error stays one, only remarks and warnings come sooner."""
        errors = " ".join(level.when for level in self.card.levels if level.severity is Severity.ERROR)
        for name, value in self.sizes():
            if not re.search(rf"\b{re.escape(name)}\b", errors):
                yield name, value


def _worst(run: Run, card: Card) -> int:
    return max((level for one in judge(run, [card], facts(run)).cards for _, level in one.changes), default=0)


def _loosened(quiet: _Quiet) -> dict[str, float] | None:
    """The smallest change of one threshold that keeps the card quiet, and a step more; None where there is none."""
    for place, factor in enumerate(STEPS):
        for name, value in quiet.sizes():
            for way in (factor, 1 / factor):
                if quiet({name: value * way}):
                    more = STEPS[min(place + 1, len(STEPS) - 1)]
                    return {name: _rounded(value * (more if way > 1 else 1 / more))}
    return None


def _tightened(quiet: _Quiet) -> dict[str, float]:
    """Each threshold that healthy runs stay far from, drawn closer; nothing where they touch it together."""
    found = {}
    for name, value in quiet.sooner():
        for sign in (1, -1):
            bears = _bears(quiet, name, value, sign)
            if bears >= WORTH:
                found[name] = _rounded(value * min(math.sqrt(bears), MOST) ** sign)
    return found if quiet(found) else {}


def _bears(quiet: _Quiet, name: str, value: float, sign: int) -> float:
    """The largest step by which a threshold may move before it touches a healthy run; 1 where it never does."""
    if quiet({name: value * STEPS[-1] ** sign}):
        return 1.0
    borne = 1.0
    for factor in STEPS:
        if not quiet({name: value * factor**sign}):
            break
        borne = factor
    return borne


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _ranges(runs: Sequence[Run], signs: Sequence[VitalSign]) -> Iterator[tuple[str, dict[str, dict[str, float]]]]:
    """Bounds of the signs that stay within a factor of three in all runs once they have settled; ends stay open."""
    for sign in signs:
        seen = [value for run in runs for value in _settled(run, sign)]
        if not seen or min(seen) <= 0 or max(seen) > STEADY * min(seen):
            continue
        bounds: dict[str, dict[str, float]] = {}
        for part, factor in (("healthy", NARROW), ("abnormal", WIDE)):
            ends = {"low": min(seen) / factor, "high": max(seen) * factor}
            bounds[part] = {
                end: _rounded(value) for end, value in ends.items() if sign.bounds[f"{part}.{end}"] is not None
            }
        yield sign.name, bounds


def _settled(run: Run, sign: VitalSign) -> Iterator[float]:
    node = compile_text(sign.value, Scope({}, dict(sign.lets)), "number")
    values = [value for value in evaluate(node, run, facts(run)).to_list() if value is not None]
    yield from values[int(SETTLED * len(values)) :]


def as_profile(found: Calibration, name: str, runs: Sequence[str]) -> dict[str, Any]:
    """The profile as plain data: name, summary, rules, vitals."""
    summary = f"Fitted to {len(runs)} healthy runs: {', '.join(runs)}"
    return {
        "name": name,
        "summary": summary,
        "rules": {rule: dict(values) for rule, values in sorted(found.rules.items())},
        "vitals": {sign: {part: dict(ends) for part, ends in bounds.items()} for sign, bounds in found.vitals.items()},
    }
