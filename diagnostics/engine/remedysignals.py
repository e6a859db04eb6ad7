"""Expressions at a run's last row, for remedies that depend on them: evaluated from the first use on as rows arrive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.run import Run
from klinic.diagnostics.shallowcopy import shallow_copy
from klinic.diagnostics.signals import Evaluator, Facts, Node, compile_text
from klinic.diagnostics.signals.block import blocks

Key = tuple[str, str, str]  # card's id, expression, kind


@dataclass(frozen=True)
class Gauge:
    """One expression, its evaluator after `rows` rows, and its value at the last of them; NaN is unknown."""

    node: Node
    evaluator: Evaluator
    rows: int = 0
    value: float = float("nan")

    def fed(self, run: Run, last: int, facts: Facts) -> Gauge:
        """The gauge after `last` rows of the run."""
        value = self.value
        for block in blocks(run, self.rows, last, facts):
            self.evaluator.advance(block)
            value = float(self.evaluator.stream(self.node).array(block.height)[-1])
        self.evaluator.rest()
        return replace(self, rows=last, value=value)

    def fork(self) -> Gauge:
        """A gauge that goes its own way from here."""
        return replace(self, evaluator=self.evaluator.fork())


class Gauges:
    """The expressions of one run that were asked for so far."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._gauges: dict[Key, Gauge] = {}

    def feed(self, run: Run, last: int) -> None:
        """Evaluate up to `last` rows what was asked for so far."""
        for key, gauge in self._gauges.items():
            self._gauges[key] = gauge.fed(run, last, self.facts)

    def fork(self) -> Gauges:
        """Gauges that go their own way from here."""
        other = shallow_copy(self)
        other._gauges = {key: gauge.fork() for key, gauge in self._gauges.items()}
        return other

    def adopt(self, other: Gauges, run: Run, last: int) -> None:
        """Ask for what another was asked for, so that a fork of this one need not begin at the first row."""
        for key, gauge in other._gauges.items():
            if key not in self._gauges:
                self._gauges[key] = Gauge(gauge.node, Evaluator([gauge.node])).fed(run, last, self.facts)

    def number(self, card: Card, text: str, run: Run, kind: Literal["number", "truth"] = "number") -> float | None:
        """Value of a card's expression at the run's last row, None where it is unknown."""
        key = (card.id, text, kind)
        if key not in self._gauges:
            node = compile_text(text, card.scope(), kind)
            self._gauges[key] = Gauge(node, Evaluator([node]))
        gauge = self._gauges[key] = self._gauges[key].fed(run, run.frame.height, self.facts)
        return gauge.value if gauge.value == gauge.value else None

    def holds(self, card: Card, text: str, run: Run) -> bool:
        """Whether a card's condition holds at the run's last row."""
        return (self.number(card, text, run, "truth") or 0.0) > 0.5
