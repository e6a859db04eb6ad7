"""Judge one run again and again while it grows: what `diagnose` says of each state, at the cost of what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.chart import Chart
from klinic.diagnostics.engine.diagnose import Thresholds, chosen_cards, concluded, signs_of
from klinic.diagnostics.engine.incidents import Incidents
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.run import Config, Run
from klinic.diagnostics.signals.place import swaps
from klinic.diagnostics.verlconfig import facts

AGAIN = 8  # last rows that are looked at again: a row may still be filled, or have been read ahead of its end
APART = 8  # each older mark lies this many times further back than the one after it


class Asked(Mapping[str, Any]):
    """A mapping that keeps what was asked of it and what it said."""

    def __init__(self, values: Mapping[str, Any], said: dict[str, Any]) -> None:
        self._values, self._said = values, said

    def __getitem__(self, key: str) -> Any:
        self._said[key] = self._values.get(key)
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class AskedFacts:
    """Facts that keep which of them were asked for and what they said."""

    def __init__(self, values: Any, said: dict[str, Any]) -> None:
        self._values, self._said = values, said

    def __getattr__(self, name: str) -> Any:
        value = self._said[name] = getattr(self._values, name, None)
        return value


@dataclass(frozen=True)
class Mark:
    """A chart after some rows, not to be fed: fork it."""

    rows: int
    chart: Chart


class Monitor:
    """Judges the states of one recording, in any order; keep one for each run that is followed.

    Options as of `diagnose`: cards, profile, select, ignore, overrides. What rows have shown is kept as long as
    neither they nor what was asked about the run (config, facts, printed digits) change; else it is judged anew.
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
        self._cards = chosen_cards(cards, profile, select, ignore, overrides)
        self._signs = signs_of(profile)
        self._incidents = Incidents(self._cards)
        self._marks: list[Mark] = []
        self._last: Run | None = None
        self._heard: tuple[Config, dict[str, Any], Config] | None = None
        self._said: dict[str, dict[str, Any]] = {"config": {}, "decimals": {}, "facts": {}}

    def diagnose(self, run: Run) -> Diagnosis:
        """The same as `diagnose(run)` with these options; JudgeError where there is nothing to judge."""
        about = facts(run)
        self._go_back(run, about)
        heard = self._listening(run)
        chart = self._at_last_row(heard, about)
        try:
            return concluded(heard, chart, self._cards, about, self._incidents.match(run))
        finally:
            self._keep(run, heard, chart)

    def _listening(self, run: Run) -> Run:
        """The run with ears: what is asked of its config and of its printed digits is kept."""
        said = self._said["config"]
        if self._heard is None or self._heard[0] is not run.config or self._heard[1] is not said:
            self._heard = run.config, said, replace(run.config, values=Asked(run.config.values, said))
        return replace(run, config=self._heard[2], decimals=Asked(run.decimals, self._said["decimals"]))

    def _at_last_row(self, run: Run, about: Any) -> Chart:
        """A chart before the last row, which is marked there, fed up to it."""
        chart = self._marks[-1].chart.fork() if self._marks else self._new(about)
        before = max(run.frame.height - 1, 0)
        if chart.rows < before:
            chart.feed(run, before)
            chart.rest()
            self._mark(chart)
        return chart

    def _new(self, about: Any) -> Chart:
        return Chart(self._cards, AskedFacts(about, self._said["facts"]), self._signs)

    def _keep(self, run: Run, heard: Run, chart: Chart) -> None:
        for mark in self._marks[-1:]:
            mark.chart.gauges.adopt(chart.gauges, heard, mark.rows)
        chart.rest()
        self._mark(chart)
        self._last = run

    def _mark(self, chart: Chart) -> None:
        """Keep a fork of the chart, and of the older ones fewer the further back they lie."""
        kept = [Mark(chart.rows, chart.fork())]
        for mark in reversed(self._marks):
            behind = chart.rows - mark.rows
            if 0 < behind <= 2 or behind >= APART * (chart.rows - kept[-1].rows):
                kept.append(mark)
        self._marks = kept[::-1]

    def _go_back(self, run: Run, about: Any) -> None:
        """Drop what no longer holds."""
        good = self._untouched(run, about)
        self._marks = [mark for mark in self._marks if mark.rows <= good]
        if not self._marks:
            self._said = {part: {} for part in self._said}

    def _untouched(self, run: Run, about: Any) -> int:
        """How many of the rows judged so far stand, with all that was asked about them."""
        last = self._last
        if last is None or last.growth is None or run.growth is None or not self._same_answers(run, last, about):
            return 0
        shared = min(last.frame.height, run.frame.height)
        return run.growth.untouched(last.growth, _same_rows(last, run, shared))

    def _same_answers(self, run: Run, last: Run, about: Any) -> bool:
        values: dict[str, Any] = {"config": run.config.values, "decimals": run.decimals}
        for part, mapping in values.items():
            if any(mapping.get(key) != value for key, value in self._said[part].items()):
                return False
        if any(getattr(about, name, None) != value for name, value in self._said["facts"].items()):
            return False
        alike = run.config.user == last.config.user and run.source.framework == last.source.framework
        return alike and _manifest(run) == _manifest(last) and not _new_swaps(last, run)


def _manifest(run: Run) -> list[Any]:
    return [run.manifest.get(section) for section in ("hardware", "data")]


def _new_swaps(last: Run, run: Run) -> bool:
    """Whether something that begins anew was reported of steps that have been judged."""
    highest = last.steps[1] if last.steps else 0
    return any(step <= highest for step in swaps(run) ^ swaps(last))


def _same_rows(last: Run, run: Run, shared: int) -> int:
    """How many of the first `shared` rows are the same in both, the last few looked at."""
    first = max(shared - AGAIN, 0)
    before, now = ((one.frame[first:shared], one.nonfinite[first:shared]) for one in (last, run))
    if before[0].equals(now[0]) and before[1].equals(now[1]):
        return shared
    for row in range(first, shared):
        if _cells(last, row) != _cells(run, row):
            return row
    return shared


def _cells(run: Run, row: int) -> list[Any]:
    """What a row holds, empty cells left out: columns may have been added since."""
    cells = zip(run.frame.columns, run.frame.row(row), strict=True)
    flags = zip(run.nonfinite.columns, run.nonfinite.row(row), strict=True) if run.nonfinite.width else ()
    return [
        *((name, cell) for name, cell in cells if cell is not None),
        *((name, flag) for name, flag in flags if flag),
    ]
