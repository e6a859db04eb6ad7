"""What the plugin knows about the run in this process: its trainer, its directory, how it is to end."""

from __future__ import annotations

from typing import Any

from klinic.trainer.stream import RunDirectory
from klinic.trainer.stream.control import REWARD, STOP, VERDICT, Request, pending, withdraw


class Session:
    """One run of verl's trainer, from `fit` to its end."""

    def __init__(self) -> None:
        self.trainer: Any = None
        self.run: RunDirectory | None = None
        self.stopped: dict[str, Any] | None = None
        self.error: str | None = None
        self.last_step: int | None = None
        self._saved = -1
        self._ran: set[int] = set()
        self._reward: tuple[int, int] | None = None

    def open(self, run: RunDirectory) -> None:
        """Take the run directory; a stop file or a verdict left from an earlier attempt says nothing of this one."""
        self.run = run
        withdraw(run.path, STOP)
        withdraw(run.path, VERDICT)

    def close(self) -> None:
        """Let go of directory and trainer."""
        self.run = self.trainer = None

    def step(self) -> int:
        """The trainer's global step, 0 where no trainer is known."""
        return int(getattr(self.trainer, "global_steps", 0) or 0)

    def saved(self, step: int) -> None:
        """Note a checkpoint."""
        self._saved = step
        if self.run is not None:
            folder = f"{self.trainer.config.trainer.default_local_dir}/global_step_{step}"
            self.run.event("checkpoint", step, path=folder)

    def trained(self, step: int) -> None:
        """Note that a step of training was done in this process."""
        self._ran.add(step)

    def end_of_step(self, step: int) -> None:
        """Do what the control folder asks, now that the step is written."""
        self.last_step = step
        if self.run is None or self.trainer is None:
            return
        self.use_reward(step)
        if request := pending(self.run.path, STOP):
            self._stop(request, step)

    def use_reward(self, step: int) -> None:
        """Swap the reward where a wish lies in the control folder that was not taken up yet.

        Called before the first step too: a resumed run goes on with the reward that it was swapped to.
        """
        if self.run is None or self.trainer is None:
            return
        if request := pending(self.run.path, REWARD):
            self._swap(request, step)

    def _swap(self, request: Request, step: int) -> None:
        if request.mark == self._reward:
            return
        self._reward = request.mark
        from klinic.trainer.plugin.reward import swap

        kind, data = swap(self.trainer, request.data)
        assert self.run is not None  # noqa: S101
        self.run.event(kind, step, **data)

    def _stop(self, request: Request, step: int) -> None:
        if self.stopped is not None or self.run is None:
            return
        self.stopped = request.data
        last = step >= int(self.trainer.total_training_steps)
        if step in self._ran and step != self._saved and not last:
            self.trainer._save_checkpoint()
        self.run.event("stop", step, **request.data)
        self.run.update(stopped_by=request.data)
        self.trainer.total_training_steps = min(step, int(self.trainer.total_training_steps))

    def outcome(self, exit_code: int) -> tuple[str, str | None]:
        """Status and error for the manifest."""
        if exit_code or self.error:
            return "failed", self.error or "the trainer ended with an error; see console.log"
        return ("stopped" if self.stopped is not None else "finished"), None


_current = Session()


def current() -> Session:
    """The session of this process."""
    return _current


def renew() -> Session:
    """A fresh session, for a trainer that begins."""
    global _current
    _current = Session()
    return _current
