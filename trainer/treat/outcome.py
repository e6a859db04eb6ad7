"""Cured or not: measured by the final validation and by what is still said of the treated run's last third."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Diagnosis, Finding, Incident, Severity
from klinic.diagnostics.readers import ReadError, open_run
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals.outcome import SCORES, is_candidate, preference
from klinic.diagnostics.verlconfig import facts

SIGMAS = 2.0
USUAL_ROWS = 200  # of a validation set whose size is unknown


@dataclass(frozen=True)
class Band:
    """Final validation scores of healthy runs: their mean and the lowest score that still counts as healthy."""

    low: float
    mean: float
    runs: int


@dataclass(frozen=True)
class Outcome:
    """How a treated run ended: its final validation score, what stood above info in its last third, the judgement."""

    score: float | None
    loud: tuple[str, ...]
    cured: bool


def final_score(run: Run) -> float | None:
    """The last value of the run's primary validation metric; None where it never validated."""
    names = sorted((name for name in run.metrics if is_candidate(name) and name not in SCORES), key=preference)
    for name in names:
        values = run.frame[name].drop_nulls()
        if len(values):
            return float(values[-1])
    return None


def algorithm(run: Run) -> str:
    """The advantage estimator, by which a run is compared with its like."""
    return facts(run).algorithm or ""


def band_of(runs: Iterable[Run]) -> Band | None:
    """The healthy band: the mean less two standard deviations of what seeds and the validation set's size allow.

    None without a validated run. Source of the standard error: a rate of n answers, with two right and two wrong ones
    added (Agresti and Coull), since a rate near 1 has no error of its own.
    """
    scored = [(score, facts(run).val_rows or USUAL_ROWS) for run in runs if (score := final_score(run)) is not None]
    if not scored:
        return None
    scores = [score for score, _ in scored]
    rows = min(count for _, count in scored)
    mean = statistics.fmean(scores)
    scatter = statistics.stdev(scores) if len(scores) > 1 else 0.0
    return Band(mean - SIGMAS * math.hypot(scatter, _standard_error(mean, rows)), mean, len(scores))


def _standard_error(rate: float, rows: int) -> float:
    if not 0 <= rate <= 1:
        return 0.0
    padded = (rate * rows + 2) / (rows + 4)
    return math.sqrt(padded * (1 - padded) / rows)


def bands(folder: Path) -> dict[str, Band]:
    """Advantage estimator -> band of the recorded healthy runs below `folder`."""
    kinds: dict[str, list[Run]] = {}
    for manifest in sorted(folder.glob("*/run.json")):
        try:
            run = open_run(manifest.parent)
        except ReadError:
            continue
        kinds.setdefault(algorithm(run), []).append(run)
    found = {kind: band_of(runs) for kind, runs in kinds.items()}
    return {kind: band for kind, band in found.items() if band is not None}


def late_findings(run: Run, diagnosis: Diagnosis) -> tuple[str, ...]:
    """Names of what stood above info in the run's last third."""
    if run.steps is None:
        return ()
    first, last = run.steps
    cut = last - (last - first) / 3
    late = [f.name for f in diagnosis.findings if f.severity > Severity.INFO and f.last_step >= cut]
    return (*late, *(one.name for one in diagnosis.incidents if one.severity > Severity.INFO))


def judge(run: Run, band: Band, planned: int) -> Outcome:
    """Whether a treated run is cured; one that did not come to its planned last step is not."""
    score, loud = final_score(run), late_findings(run, diagnose(run))
    whole = run.steps is not None and run.steps[1] >= planned
    return Outcome(score, loud, whole and score is not None and score >= band.low and not loud)


def names(diagnosis: Diagnosis) -> list[str]:
    """Findings and incidents above info, the root cause first."""
    found: list[Finding | Incident] = sorted(diagnosis.findings, key=lambda f: f.id != diagnosis.root_cause)
    return [one.name for one in (*found, *diagnosis.incidents) if one.severity > Severity.INFO]
