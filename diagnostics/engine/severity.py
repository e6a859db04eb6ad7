"""What is left of a card's episodes at the last step: the policy that knows the run's outcome.

A closed episode that did not repeat and left the outcome within noise of where it was is information, its peak
noted; one that repeats or cost some of the outcome keeps its weight. An open one weighs what it weighs now; where it
has eased from its peak, what it cost since then decides in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
from numpy.lib.stride_tricks import sliding_window_view

from klinic.diagnostics.engine.curves import Floats, median_of, noise
from klinic.diagnostics.engine.episodes import Episode
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Facts
from klinic.diagnostics.signals.block import fresh_starts
from klinic.diagnostics.signals.grain import rows_behind
from klinic.diagnostics.signals.outcome import SCORES, is_candidate, preference

AROUND = 5  # values of the outcome compared before and after an episode


@dataclass(frozen=True)
class Outcome:
    """The run's outcome: rows that have a value of it, the values (larger is better), responses behind each value."""

    rows: Sequence[int] | npt.NDArray[np.uint32] = ()
    values: Sequence[float] | Floats = ()
    trials: float = 200
    starts: tuple[int, ...] = ()  # rows at which a training began from scratch, the first one apart

    def held(self, episode: Episode) -> bool:
        """Whether the outcome after an episode is within noise of where it was before, or above.

        An episode that was there before the first value is held against the best of the outcome's first values, one
        that became worse later against the best until then; without a value after it nothing was lost yet.
        """
        first = max((start for start in self.starts if start <= episode.onset), default=0)
        end = min((start for start in self.starts if start > episode.onset), default=math.inf)
        start, stop = np.searchsorted(self.rows, (first, end)).tolist()
        rows, values = np.asarray(self.rows)[start:stop], np.asarray(self.values)[start:stop]
        before = values[: np.searchsorted(rows, episode.onset)]
        after = values[np.searchsorted(rows, episode.last, side="right") :]
        if not len(after):
            return True
        was = median_of(before[-AROUND:]) if len(before) else float(values[:AROUND].max())
        until = values[max(len(before) - AROUND, 0) : np.searchsorted(rows, episode.peaked)]
        if len(until) >= AROUND:
            was = max(was, float(np.median(sliding_window_view(until, AROUND), axis=1).max()))
        return median_of(after[-AROUND:]) >= was - self._slack(was)

    def _slack(self, level: float) -> float:
        """Three times what chance makes of an unchanged outcome, a tenth of its level at least."""
        scatter = noise(self.values) if len(self.values) >= 2 * AROUND else 0.0
        return max(3 * self._error(level), 3 * scatter, 0.1 * abs(level))

    def _error(self, level: float) -> float:
        """Standard error of a rate; 0 for an outcome that is no rate."""
        rate = np.min(self.values) >= 0 and np.max(self.values) <= 1
        return math.sqrt(level * (1 - level) / self.trials) if rate else 0.0


def outcome_of(run: Run, facts: Facts) -> Outcome:
    """The metric that the signal `outcome()` means at the run's last row, over the whole run."""
    candidates = sorted(filter(is_candidate, run.metrics), key=preference)
    counted = ((name, run.frame[name].len() - run.frame[name].null_count()) for name in candidates)
    name = next((name for name, count in counted if count >= 2), None)
    name = name or next((score for score in SCORES if run.has(score)), None)
    if name is None:
        return Outcome()
    column = run.frame[name]
    values, rows = column.drop_nulls().to_numpy(), column.is_not_null().arg_true().to_numpy()
    told = rows_behind(values.tolist(), run.decimals.get(name)) if name in candidates else math.nan
    trials = facts.val_rows if name in candidates else (facts.train_batch_size or 0) * (facts.n or 1)
    starts = tuple(fresh_starts(run, 0, run.frame.height))
    return Outcome(rows, values, trials or (200 if math.isnan(told) else told), starts)


def evaluations_apart(run: Run) -> int:
    """Steps between two evaluations of the run, the median; 0 where it has fewer than two."""
    names = [name for name in run.metrics if is_candidate(name)]
    if not names:
        return 0
    steps = run.frame.filter(pl.any_horizontal(pl.col(names).is_not_null()))["step"].to_numpy()
    ahead = np.diff(steps)
    return int(np.median(ahead[ahead > 0])) if (ahead > 0).any() else 0


def weighed_outcome(run: Run, facts: Facts, fired: Sequence[Sequence[Episode]]) -> Outcome:
    """The run's outcome where the severity of a card that fired depends on it; else one without values."""
    return outcome_of(run, facts) if any(map(_weighed, fired)) else Outcome()


def _weighed(episodes: Sequence[Episode]) -> bool:
    """Whether the outcome decides: on an episode that has eased, and on a single one that is over."""
    return _eased(episodes[-1]) or (len(episodes) == 1 and episodes[0].closed)


def _eased(episode: Episode) -> bool:
    return not episode.closed and episode.severity < episode.peak


def severity_now(episodes: Sequence[Episode], outcome: Outcome) -> Severity:
    """Severity at the last row judged of a card that had these episodes; at least information."""
    latest = episodes[-1]
    weight = Severity.INFO if latest.closed else max(latest.severity, Severity.INFO)
    if len(episodes) > 1:
        weight = max([weight, *(episode.peak for episode in episodes if episode.closed)])
    over = replace(latest, last=latest.peaked) if _eased(latest) else latest
    return max(weight, latest.peak) if _weighed(episodes) and not outcome.held(over) else weight
