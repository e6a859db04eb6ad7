"""An alarm that would have paged somebody counts, even when it is gone at the end: judge a run at every prefix."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.engine.judge import Judge
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.monitor import Monitor
from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig import facts

AFTER = 10  # rows after an alarm in which its closing may still be judged differently


def first_alarm(run: Run, bound: Severity) -> tuple[int, str] | None:
    """The first prefix (its number of rows) at which a finding stood above `bound`, with the finding's name.

    Signals are causal and the policy of severities only ever lowers what a card said, so only the prefixes around
    rows at which some card was above the bound need a diagnosis of their own.
    """
    monitor = Monitor()
    for rows in _suspect(run, bound):
        for finding in monitor.diagnose(run.head(rows)).findings:
            if finding.severity > bound:
                return rows, finding.name
    return None


def _suspect(run: Run, bound: Severity) -> Iterator[int]:
    cards = Judge(installed_cards(), facts(run)).judge(run).cards
    loud = {row for card in cards for row in (card.severity > int(bound)).arg_true().to_list()}
    near = {row + late for row in loud for late in range(AFTER + 1)}
    yield from sorted(row + 1 for row in near if row < run.frame.height)
