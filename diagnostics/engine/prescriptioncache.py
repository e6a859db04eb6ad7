"""A prescription that stands: computed anew only where something that it was computed from has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.model import Finding, Override
from klinic.diagnostics.language import current_language
from klinic.diagnostics.run import Run

Reading = float | bool | None
Kind = Literal["number", "truth"]
Read = Callable[[Card, str, Kind], Reading]


class Readings:
    """What was read of the cards' expressions, so that it can be asked again. read: (card, expression, kind)."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self.taken: dict[tuple[str, str, Kind], tuple[Card, Reading]] = {}

    def holds(self, card: Card, text: str) -> bool:
        """Whether a condition holds at the last row."""
        return bool(self._taken(card, text, "truth"))

    def number(self, card: Card, text: str) -> float | None:
        """An expression's value at the last row."""
        found: float | None = self._taken(card, text, "number")
        return found

    def _taken(self, card: Card, text: str, kind: Kind) -> Any:
        found = self._read(card, text, kind)
        self.taken[card.id, text, kind] = card, found
        return found


@dataclass(frozen=True)
class Standing:
    """A prescription with what it was computed from, beside the run's config and its facts; it holds no run."""

    basis: tuple[Any, ...]
    taken: Mapping[tuple[str, str, Kind], tuple[Card, Reading]]
    overrides: tuple[Override, ...]

    def holds(self, basis: tuple[Any, ...], read: Read) -> bool:
        """Whether it would be computed from the same."""
        if basis != self.basis:
            return False
        return all(read(card, text, kind) == value for (_, text, kind), (card, value) in self.taken.items())


def prescribed(
    run: Run,
    about: object,
    cards: Sequence[Card],
    findings: Sequence[Finding],
    read: Read,
    compute: Callable[[Readings], tuple[Override, ...]],
) -> tuple[Override, ...]:
    """The prescription of these findings, the one that stands with the run's config if nothing changed.

    read: value of a card's expression at the run's last row.
    """
    places = tuple((one.id, one.severity, one.peak, one.root_cause, one.first_step, one.attempt) for one in findings)
    basis = (places, about, tuple(cards), run.source.framework, current_language())
    standing: Standing | None = run.config.worked_out.get("prescription")
    if standing is None or not standing.holds(basis, read):
        readings = Readings(read)
        overrides = compute(readings)
        standing = Standing(basis, readings.taken, overrides)
        run.config.worked_out["prescription"] = standing
    return standing.overrides
