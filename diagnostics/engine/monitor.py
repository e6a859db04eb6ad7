"""Judge one run again and again while it grows: what `diagnose` says of each state, at the cost of what is new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.diagnose import Thresholds, diagnose
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.run import Run


class Monitor:
    """Judges the states of one recording, in any order; keep one for each run that is followed.

    Options as of `diagnose`: cards, profile, select, ignore, overrides.
    """

    def __init__(
        self,
        *,
        cards: Iterable[Card] | None = None,
        profile: str = "default",
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        overrides: Thresholds | None = None,
    ) -> None:
        self._cards = None if cards is None else tuple(cards)
        self._profile, self._select, self._ignore, self._overrides = profile, select, ignore, overrides

    def diagnose(self, run: Run) -> Diagnosis:
        """The same as `diagnose(run)` with these options; JudgeError where there is nothing to judge."""
        return diagnose(
            run,
            cards=self._cards,
            profile=self._profile,
            select=self._select,
            ignore=self._ignore,
            overrides=self._overrides,
        )
