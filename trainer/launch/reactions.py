"""What is done with each look at a run while it trains: events, alerts, the reason to stop it, what trackers show."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klinic.trainer.launch.verdict import tracked, verdict
from klinic.trainer.stream import StreamError, note, tell_verdict

if TYPE_CHECKING:
    from klinic.diagnostics.alerts.alerter import Alerter
    from klinic.diagnostics.alerts.channel import Alerts
    from klinic.diagnostics.alerts.courier import Patience, Receipt
    from klinic.diagnostics.live.changes import Change
    from klinic.diagnostics.live.look import Look
    from klinic.diagnostics.live.stopon import Reason, StopOn, StopWatch
    from klinic.diagnostics.run import Run

KINDS = {"found": "finding opened", "worse": "finding worse", "eased": "finding eased", "cleared": "finding closed"}


@dataclass
class Reactions:
    """stop_on: when the run is to be stopped. alerts: who is told. trouble: why a message was not delivered.

    write_back: whether trackers that the run logs to are to show what is found.
    """

    stop_on: StopOn | None = None
    alerts: Alerts | None = None
    patience: Patience | None = None
    trouble: str = ""
    write_back: bool = False

    def __post_init__(self) -> None:
        self._run_dir: Path | None = None
        self._last: Look | None = None
        self._watch: StopWatch | None = None
        self._alerter: Alerter | None = None
        self._rows_before = 0
        self._tracked = False
        self._laid: dict[str, Any] = {}

    @property
    def pressing(self) -> bool:
        """Whether somebody is to be told, or the run to be stopped."""
        return self.stop_on is not None or self.alerts is not None

    @property
    def any(self) -> bool:
        """Whether something hangs on the looks; of trackers that is known from the first look on."""
        return self.pressing or self._tracked

    def begin(self, run_dir: Path, launched: float | None = None) -> None:
        """Note what was in the directory when the training was launched (seconds since the epoch; now where None)."""
        from klinic.diagnostics.live.follow import Follower

        self._run_dir = run_dir
        with Follower(run_dir) as follower:
            run = follower.poll()
        self._rows_before = _rows_until(launched, run) if run is not None else 0
        if self.alerts is not None:
            from klinic.diagnostics.alerts.alerter import Alerter

            self._alerter = Alerter(self.alerts, self._delivered, self.patience)

    def end(self) -> None:
        """Deliver the messages on their way, for a few seconds at most."""
        if self._alerter is not None:
            self._alerter.close()

    def to(self, look: Look) -> Reason | None:
        """Do all that is to be done; gives why the run is to be stopped now, None while there is no reason.

        What was found before this launch is no news of it: a run that is gone on with begins with the findings of the
        attempt before it, until its own first step.
        """
        if look.rows <= self._rows_before:
            return None
        from klinic.diagnostics.live.changes import changes

        for change in changes(self._last, look):
            self._event(change)
        self._last = look
        if self._alerter is not None:
            for channel, message in self._alerter.take(look):
                self._note("alert", look.step, channel=channel.name, title=message.title)
        self._tracked = self.write_back and tracked(look.run)
        if self._tracked:
            self._lay_down(verdict(look))
        return self._due(look)

    def _lay_down(self, found: dict[str, Any]) -> None:
        if self._run_dir is None or found == self._laid:
            return
        with contextlib.suppress(StreamError):
            tell_verdict(self._run_dir, found)
            self._laid = found

    def _due(self, look: Look) -> Reason | None:
        if self.stop_on is None:
            return None
        if self._watch is None:
            from klinic.diagnostics.live.stopon import StopWatch

            self._watch = StopWatch(self.stop_on, self._rows_before)
        return self._watch.due(look)

    def _event(self, change: Change) -> None:
        kind, one = KINDS.get(change.kind), change.finding
        if kind is not None and one is not None:
            self._note(
                kind, change.look.step, id=one.id, name=one.name, severity=str(one.severity), since=one.first_step
            )

    def _note(self, kind: str, step: int | None, **data: Any) -> None:
        if self._run_dir is None:
            return
        with contextlib.suppress(StreamError):  # a full disk is told by whoever trains
            note(self._run_dir, kind, step, **data)

    def _delivered(self, receipt: Receipt) -> None:
        if receipt.trouble:
            self.trouble = f"the alert to {receipt.channel} was not delivered: {receipt.trouble}"
            self._note("alert failed", receipt.message.step, channel=receipt.channel, trouble=receipt.trouble)


def _rows_until(launched: float | None, run: Run) -> int:
    """Rows that were written before a moment: a process that attends to the run comes up some seconds after it."""
    if launched is None:
        return run.frame.height
    return run.frame.filter(run.frame["time"].fill_null(0.0) < launched).height
