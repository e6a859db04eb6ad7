"""The diagnosis of the run while it trains, in a thread of its own; what it finds may be told, and may end the run."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from klinic.trainer.launch.reactions import Reactions

if TYPE_CHECKING:
    from klinic.diagnostics.engine.model import Diagnosis
    from klinic.diagnostics.live.follow import Follower
    from klinic.diagnostics.live.look import Looker
    from klinic.diagnostics.live.stopon import Reason

PAUSE, CLOSE = 10.0, 1.0  # seconds between looks, at least; where something hangs on them
SHARE, MORE = 0.05, 0.2  # of one CPU that the looks may take from the training; where something hangs on them


class LiveDiagnosis:
    """Looks at a run directory again and again, from `start` to `stop`.

    launched: when the training began, in seconds since the epoch: rows written since are news; now where None.
    words: health, verdict and the newest finding for the progress line, empty until the first diagnosis.
    reason: why the run is to be stopped, None while there is no reason. trouble: why it cannot look any more, or why
    an alert was not delivered.
    """

    def __init__(self, run_dir: Path, reactions: Reactions | None = None, launched: float | None = None) -> None:
        self.words = ""
        self.reason: Reason | None = None
        self.trouble = ""
        self._run_dir, self._launched = run_dir, launched
        self._reactions = reactions or Reactions()
        self._failed = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="klinic-diagnosis", daemon=True)

    def start(self) -> None:
        """Begin to look every few seconds; what was in the directory before the launch is no news."""
        try:
            self._reactions.begin(self._run_dir, self._launched)
        except Exception as error:  # whatever it is, the training goes on
            self._fails(error)
            return
        self._thread.start()

    def stop(self) -> None:
        """A last look, then no more."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(30 if self._reactions.any else 5)

    def _watch(self) -> None:
        try:
            self._rounds()
        except Exception as error:  # whatever it is, the training goes on
            self._fails(error)
        finally:
            self._reactions.end()

    def _fails(self, error: Exception) -> None:
        """Say it once: what failed in one look may work in the next."""
        if not self._failed:
            self._failed = True
            self.trouble = f"the diagnosis failed ({type(error).__name__}: {error}); the training goes on"

    def _rounds(self) -> None:
        from klinic.diagnostics.live.follow import Follower
        from klinic.diagnostics.live.judging import LiveJudge
        from klinic.diagnostics.live.look import Looker

        looker = Looker(LiveJudge())
        share = MORE if self._reactions.pressing else SHARE
        with Follower(self._run_dir) as follower:
            wait, ended, first = self._pause(), False, True
            while not ended:
                ended = self._stop.wait(wait)
                if ended and not self._reactions.any:
                    return
                began = time.thread_time()
                self._look(follower, looker)
                spent = 0.0 if first else time.thread_time() - began  # the first look loads the rules
                wait, first = max(self._pause(), spent / share), False

    def _pause(self) -> float:
        return CLOSE if self._reactions.any else PAUSE

    def _look(self, follower: Follower, looker: Looker) -> None:
        from klinic.diagnostics.readers import ReadError

        try:
            self._judge(follower, looker)
        except ReadError:  # half a file, a file that is away for a moment
            return
        except Exception as error:  # whatever it is, the training goes on
            self._fails(error)

    def _judge(self, follower: Follower, looker: Looker) -> None:
        look = looker.look(follower.poll())
        if look is None or look.diagnosis is None or not look.rows:
            return
        self.words = words(look.diagnosis)
        reason = self._reactions.to(look)
        self.reason = self.reason or reason
        if self._reactions.trouble:
            self.trouble, self._reactions.trouble = self._reactions.trouble, ""


def words(diagnosis: Diagnosis) -> str:
    """`health 92 healthy`, with the newest open finding at warn or above behind it.

    A vital sign may be far out of its range before a rule is sure: then the sign is told, not a healthy run.
    """
    findings = [each for each in diagnosis.findings if not each.closed and each.severity >= 2]
    if findings:
        newest = max(findings, key=lambda each: each.first_step)
        return f"health {diagnosis.health} {diagnosis.verdict}: {newest.name} since step {newest.first_step}"
    out = [vital.title for vital in diagnosis.vitals if vital.status == "sick"]
    if out and diagnosis.verdict == "healthy":
        return f"health {diagnosis.health}: {' and '.join(out)} out of range"
    return f"health {diagnosis.health} {diagnosis.verdict}"
