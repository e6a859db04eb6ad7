"""One look at a run: how it stands, how fast it goes, how long it will take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from klinic.diagnostics.engine.model import Diagnosis, Finding, Severity
from klinic.diagnostics.live.judging import LiveJudge
from klinic.diagnostics.run import Run
from klinic.diagnostics.run.state import STALLED_S, STALLED_STEPS, UNKNOWN, seconds_per_step, state
from klinic.diagnostics.verlconfig import facts

ENDED = ("finished", "failed", "stopped", "interrupted")
LAST_WORD = "train_runtime"
# How a program of Python tells that it died; Hydra keeps the traceback to itself and says where to get it.
CRASHES = ("Traceback (most recent call last)", "Set the environment variable HYDRA_FULL_ERROR=1")
TAIL = 60  # lines
QUIET = 30.0  # seconds: what goes on after a traceback was no crash, what follows the last step is its validation


@dataclass(frozen=True)
class Look:
    """A run at a moment.

    diagnosis: None while there is nothing to judge. state: of a run directory as its manifest and process tell it; of
    a bare log running, stalled, finished or failed as far as its text and its planned steps tell. seen: seconds since
    the epoch. grew: when the run last had a new step, by the clock of whoever looks.
    """

    run: Run
    diagnosis: Diagnosis | None
    state: str
    total: int | None
    pace: float | None
    seen: float
    grew: float

    @property
    def name(self) -> str:
        """The run's path as the user gave it."""
        return self.run.source.path

    @property
    def step(self) -> int | None:
        """The last step of the attempt that is running; None before the first."""
        attempts = self.run.attempts
        return attempts[-1].last_step if attempts else None

    @property
    def rows(self) -> int:
        """Rows read so far."""
        return int(self.run.frame.height)

    @property
    def left(self) -> float | None:
        """Seconds until the planned end at the usual pace; None where that cannot be told."""
        if self.pace is None or self.total is None or self.step is None or self.state in ENDED:
            return None
        return max(0, self.total - self.step) * self.pace

    @property
    def phase(self) -> str:
        """Init before the first step, Val where the newest event is a validation, Train, Done."""
        if self.state in ENDED:
            return "Done"
        if self.step is None or self.step == 0:
            return "Init"
        newest = max((event.time or 0 for event in self.run.events if event.kind == "validation"), default=0)
        last = self.run.frame["time"].drop_nulls().max() if self.rows else None
        return "Val" if isinstance(last, int | float) and newest > last else "Train"

    @property
    def silent(self) -> float:
        """Seconds since the last new step."""
        return self.seen - self.grew

    def findings(self, least: Severity = Severity.WARN) -> Sequence[Finding]:
        """Findings that hold now, at `least` this severity."""
        found = self.diagnosis.findings if self.diagnosis else ()
        return [each for each in found if not each.closed and each.severity >= least]


class Looker:
    """Looks at one run again and again; it keeps what one look alone cannot tell."""

    def __init__(self, judge: LiveJudge) -> None:
        self._judge = judge
        self._last: Look | None = None

    def look(self, run: Run | None, now: float | None = None) -> Look | None:
        """The run as it stands; the last one again, with the clock moved on, where `run` is None."""
        now = time.time() if now is None else now
        if run is not None:
            self._last = self._fresh(run, now)
        elif self._last is not None:
            self._last = _later(self._last, now)
        return self._last

    def _fresh(self, run: Run, now: float) -> Look:
        before = self._last
        stands = before if before is not None and run.frame.height == before.rows else None
        grew = self._grew(run, now) if stands is None else min(stands.grew, now)  # the clock may be set back
        total, pace = facts(run).total_steps, seconds_per_step(run)
        if pace is None and before is not None:
            pace = before.pace if stands else _measured(before, run, now)
        return Look(run, self._judge.judge(run), _state(run, total, pace, now - grew, now), total, pace, now, grew)

    def _grew(self, run: Run, now: float) -> float:
        """When the last row was written: a run that is looked at for the first time may have stood still for long."""
        if self._last is not None:
            return now
        timed = run.frame.height and "time" in run.frame.columns
        times = run.frame["time"].drop_nulls().tail(1).to_list() if timed else []
        told = float(times[0]) if times else written(Path(run.source.path.partition("#")[0]))
        return told if told is not None and 0 < told < now else now


def _later(look: Look, now: float) -> Look:
    """The same look with the clock moved on."""
    grew = min(look.grew, now)  # it may be set back
    state = _state(look.run, look.total, look.pace, now - grew, now)
    return replace(look, state=state, seen=now, grew=grew)


def written(path: Path) -> float | None:
    """When a file, or the newest file of a folder, was last written; None where that cannot be told."""
    try:
        files = [each for each in path.iterdir() if each.is_file()] if path.is_dir() else [path]
        return max((each.stat().st_mtime for each in files), default=None)
    except OSError:
        return None


def _measured(before: Look, run: Run, now: float) -> float | None:
    """Seconds a step by the clock of whoever looks, for logs without times."""
    steps = run.frame.height - before.rows
    if steps <= 0 or before.rows == 0:
        return before.pace
    pace = (now - before.grew) / steps
    return pace if before.pace is None else 0.7 * before.pace + 0.3 * pace


def _state(run: Run, total: int | None, pace: float | None, silent: float, now: float) -> str:
    """The state of a run; a log has no manifest, so its text and its silence have to tell."""
    told = state(run, now)
    if told != UNKNOWN:
        return told
    tail = [line.text for line in run.lines if line.line > run.last_line - TAIL]
    if _ended(run) or any(LAST_WORD in text for text in tail):
        return "finished"
    if silent > QUIET:
        if total and run.attempts and run.attempts[-1].last_step >= total:
            return "finished"
        if any(crash in text for text in tail for crash in CRASHES):
            return "failed"
    return "stalled" if silent > max(STALLED_S, STALLED_STEPS * (pace or 0.0)) else "running"


def _ended(run: Run) -> bool:
    """Whether the log itself says that the training at hand came to its end."""
    last = run.attempts[-1].last_step if run.attempts else 0
    return any(event.kind == "finished" and (event.step or 0) >= last for event in run.events)
