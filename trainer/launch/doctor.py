"""The diagnosis of the run while it trains, in a thread of its own; it can fail, and then only says less."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

PAUSE = 10.0  # seconds between looks, at least
SHARE = 0.05  # of one CPU that the looks may take from the training


class Doctor:
    """`words`: health, verdict and the newest finding for the progress line, empty until the first diagnosis."""

    def __init__(self, run_dir: Path) -> None:
        self.words = ""
        self._run_dir = run_dir
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="klinic-doctor", daemon=True)

    def start(self) -> None:
        """Begin to look every few seconds."""
        self._thread.start()

    def stop(self) -> None:
        """No more looks."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(5)

    def _watch(self) -> None:
        with contextlib.suppress(Exception):  # whatever it is, the training goes on
            from klinic.diagnostics.live.follow import Follower

            with Follower(self._run_dir) as follower:
                pause = PAUSE
                while not self._stop.wait(pause):
                    began = time.thread_time()
                    self._look(follower)
                    pause = max(PAUSE, (time.thread_time() - began) / SHARE)

    def _look(self, follower: object) -> None:
        with contextlib.suppress(Exception):
            from klinic.diagnostics.engine.diagnose import diagnose

            run = follower.poll()  # type: ignore[attr-defined]
            if run is not None and run.frame.height:
                self.words = words(diagnose(run))


def words(diagnosis: object) -> str:
    """`health 92 healthy`, with the newest open finding at warn or above behind it."""
    head = f"health {diagnosis.health} {diagnosis.verdict}"  # type: ignore[attr-defined]
    findings = [each for each in diagnosis.findings if not each.closed and each.severity >= 2]  # type: ignore[attr-defined]
    if not findings:
        return head
    newest = max(findings, key=lambda each: each.first_step)
    return f"{head}: {newest.name} since step {newest.first_step}"
