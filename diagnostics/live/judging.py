"""Judge runs again whenever they have grown: what the offline view would say of the same bytes."""

from __future__ import annotations

from typing import Any

from klinic.diagnostics.engine.diagnose import JudgeError
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.engine.monitor import Monitor
from klinic.diagnostics.run import Run


class LiveJudge:
    """Judges the states of any number of runs, each named by its path. options: of `diagnose`."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._monitors: dict[str, Monitor] = {}

    def judge(self, run: Run) -> Diagnosis | None:
        """The diagnosis, None while there is nothing to judge yet. Raises CardError for options that do not fit."""
        monitor = self._monitors.get(run.source.path)
        if monitor is None:
            monitor = self._monitors[run.source.path] = Monitor(**self._options)
        try:
            return monitor.diagnose(run)
        except JudgeError:
            return None
