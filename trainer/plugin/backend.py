"""What the tracking backend does: open the run directory, write each step, obey the control folder."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any, Self

from klinic.trainer.plugin import environ
from klinic.trainer.plugin.attendance import attend
from klinic.trainer.plugin.session import Session, current
from klinic.trainer.plugin.writeback import WriteBack
from klinic.trainer.stream import RunDirectory, git_commit, hardware, versions

log = logging.getLogger("klinic.plugin")
BEAT = 10.0  # seconds between heartbeats; readers wait for at least 60


class Backend:
    """verl's interface of a logger: `log(data, step)` and `finish(exit_code)`."""

    def __init__(self, run: RunDirectory, session: Session, loggers: Mapping[str, Any]) -> None:
        self.run = run
        self.session = session
        self._back = WriteBack(run, loggers)
        self._ended = threading.Event()
        self._beat = threading.Thread(target=self._keep_alive, name="klinic-heartbeat", daemon=True)

    @classmethod
    def start(cls, project: str, experiment: str, config: Any, loggers: Mapping[str, Any]) -> Self:
        """Open the run directory and say what begins: a run, or another attempt at it.

        loggers: verl's own, by their names, in which what is found is shown.
        """
        run = RunDirectory(environ.directory(project, experiment))
        run.begin(**_facts(project, experiment, config))
        session = current()
        session.open(run)
        step = session.step()
        run.event("resumed" if run.resumed else "started", step, from_checkpoint=step or None)
        session.use_reward(step)
        backend = cls(run, session, loggers)
        backend._beat.start()
        attend(run.path)
        return backend

    def _keep_alive(self) -> None:
        while not self._ended.wait(BEAT):
            try:
                self.run.heartbeat()
            except OSError:
                continue  # the next line of metrics will say it aloud

    def log(self, data: Mapping[str, Any], step: int) -> None:
        """Write one line, show what was found so far, then do what the control folder asks."""
        self.run.write_step(step, data)
        self._back.step(step)
        self.session.end_of_step(step)

    def before_finish(self, exit_code: int = 0) -> None:
        """Show the last verdict while verl's loggers are open still."""
        self._back.end(self.session.last_step, wait=exit_code == 0)

    def finish(self, exit_code: int = 0) -> None:
        """Write how the run ended and stop the heartbeat."""
        self._ended.set()
        status, error = self.session.outcome(exit_code)
        try:
            self.run.finish(status, self.session.last_step, error)
        except OSError as trouble:  # must not hide what ended the training
            log.error("%s", trouble)
        self.session.close()


def _facts(project: str, experiment: str, config: Any) -> dict[str, Any]:
    words = environ.overrides()
    facts = {
        "framework": "verl",
        "project": project,
        "experiment": experiment,
        "command": environ.command(),
        "overrides": words,
        "user": environ.keys(words),
        "config": config,
        "versions": versions(),
        "hardware": hardware(),
        "git_commit": git_commit(),
        "stopped_by": None,
    }
    return {name: value for name, value in facts.items() if value is not None or name == "stopped_by"}
