"""What klinic finds, shown where the run is tracked: health, findings and story in TensorBoard, W&B and Trackio.

The live judge, in another process, lays its verdict down in `control/verdict`; the process that holds verl's loggers
reads it at the end of each step. A verdict is about steps before that one, so each stands at the last step it judged.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Any

from klinic.diagnostics.run.trackers import OURS
from klinic.trainer.plugin.trackers import SHOWS, Shown, Tracker
from klinic.trainer.stream import RunDirectory, StreamError, pending
from klinic.trainer.stream.control import VERDICT

SLOW = 5.0  # seconds that a tracker may take for one verdict before it is left alone
PATIENCE = 10.0  # seconds for which the verdict on the last step is waited for
PAUSE = 0.1


class WriteBack:
    """Shows verdicts in every tracker that verl has opened; it never fails, nor takes long.

    loggers: verl's, by their names. A tracker that fails is left alone from then on; an event says why.
    """

    def __init__(self, run: RunDirectory, loggers: Mapping[str, Any]) -> None:
        self._run = run
        self._loggers = {name: loggers[name] for name in SHOWS if name in loggers}
        self._trackers: dict[str, Tracker] = {}
        self._mark: tuple[int, int] | None = None
        self._names: dict[str, None] = {}
        self._told: Any = None
        self._judged: int | None = None

    def step(self, step: int) -> None:
        """Show the verdict that came since the last call, if any. step: the one that was logged last."""
        if not self._loggers:
            return
        request = pending(self._run.path, VERDICT)
        if request is None or request.mark == self._mark:
            return
        self._mark = request.mark
        try:
            shown = self._read(request.data)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            self._give_up("", step, f"the verdict cannot be read ({type(error).__name__}: {error})")
            return
        for name in list(self._loggers):
            self._show(name, shown, step)

    def end(self, step: int | None, wait: bool) -> None:
        """Show the verdict on the last step, for which a judge that has spoken before is waited for a little."""
        until = time.monotonic() + PATIENCE * wait
        while self._loggers and step is not None:
            self.step(step)
            if self._judged is None or self._judged >= step or time.monotonic() >= until:
                break
            time.sleep(PAUSE)
        for tracker in self._trackers.values():
            with contextlib.suppress(Exception):  # whatever it is, the training has to end well
                tracker.close()

    def _read(self, data: Mapping[str, Any]) -> Shown:
        levels = {str(name): float(level) for name, level in data["findings"].items()}
        self._names.update(dict.fromkeys(levels))
        told, before = (data["verdict"], levels), self._told
        self._told, self._judged = told, int(data["step"])
        values = {"health": float(data["health"]), "severity": float(data["severity"])}
        values |= {f"findings/{name}": levels.get(name, 0.0) for name in self._names}
        return Shown(
            self._judged,
            {OURS + name: value for name, value in values.items()},
            str(data["story"]) if told != before else "",
        )

    def _show(self, name: str, shown: Shown, step: int) -> None:
        began = time.monotonic()
        try:
            if name not in self._trackers:
                self._trackers[name] = SHOWS[name](self._loggers[name])
            self._trackers[name].show(shown, step)
        except Exception as error:  # of whatever library: the training goes on
            self._give_up(name, step, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
            return
        if (took := time.monotonic() - began) > SLOW:
            self._give_up(name, step, f"it took {took:.0f} s")

    def _give_up(self, name: str, step: int, reason: str) -> None:
        for each in [name] if name else list(self._loggers):
            self._loggers.pop(each)
        with contextlib.suppress(StreamError):  # a full disk is told by the metrics
            self._run.event("write-back failed", step, tracker=name or "all", reason=reason)
