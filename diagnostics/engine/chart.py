"""All that judging keeps of one run while rows arrive: its cards, its vital signs, the expressions of its remedies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.judge import Judge
from klinic.diagnostics.engine.remedysignals import Gauges
from klinic.diagnostics.engine.vitals import SignsState, VitalSign
from klinic.diagnostics.run import Run
from klinic.diagnostics.shallowcopy import shallow_copy
from klinic.diagnostics.signals import Facts


class Chart:
    """Rows are fed in order; a fork goes its own way, and neither touches the other."""

    def __init__(self, cards: Iterable[Card], facts: Facts, signs: Sequence[VitalSign]) -> None:
        self.judge = Judge(cards, facts)
        self.signs = SignsState(signs, facts)
        self.gauges = Gauges(facts)

    @property
    def rows(self) -> int:
        """Rows fed so far."""
        return self.judge.rows

    def feed(self, run: Run, last: int) -> None:
        """Take the run's rows up to `last`."""
        self.judge.feed(run, to_row=last)
        self.signs.feed(run, last)
        self.gauges.feed(run, last)

    def rest(self) -> None:
        """Let go of what was evaluated of the rows fed last."""
        self.judge.rest()

    def fork(self) -> Chart:
        """A chart that stands where this one does."""
        other = shallow_copy(self)
        other.judge, other.signs, other.gauges = self.judge.fork(), self.signs.fork(), self.gauges.fork()
        return other
