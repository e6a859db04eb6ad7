"""Attend a run that was launched without klinic: alerts, the stop for a finding, the word to its trackers, from a
process of its own.

verl's plugin starts it beside the trainer where KLINIC_STOP_ON, KLINIC_ALERTS or KLINIC_WRITE_BACK asks for it; it
ends with the run.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from klinic.diagnostics.run.state import BY_FINDING
from klinic.trainer.launch.diagnosis import LiveDiagnosis
from klinic.trainer.launch.reactions import Reactions
from klinic.trainer.launch.run import facts_of
from klinic.trainer.plugin.environ import ALERTS, STOP_ON, WATCHED, WRITE_BACK, off, on
from klinic.trainer.stream import StreamError, note, request_stop
from klinic.trainer.stream.manifest import read

PAUSE = 0.5  # seconds between looks at the diagnosis
NICENESS = 5


def asked(stop_on: str, alerts: str, write_back: str = "") -> tuple[Reactions, list[str]]:
    """What the variables ask for, and one line for each that cannot be used."""
    from klinic.diagnostics.alerts.config import load
    from klinic.diagnostics.live.stopon import StopOn
    from klinic.diagnostics.settings import SettingsError

    wanted, problems = Reactions(write_back=not off(write_back)), []
    try:
        wanted.stop_on = StopOn.parse(stop_on) if stop_on else None
    except ValueError as error:
        problems.append(f"{STOP_ON}: {error}")
    try:
        wanted.alerts = load(Path(alerts)) if alerts else None
    except SettingsError as error:
        problems.append(f"{ALERTS}: {error}")
    return wanted, problems


def attend(run_dir: Path, wanted: Reactions, parent: int, launched: float) -> None:
    """Stay until the run has ended or process `parent` is gone. launched: seconds since the epoch."""
    diagnosis = LiveDiagnosis(run_dir, wanted, launched)
    diagnosis.start()
    requested = False
    try:
        while os.getppid() == parent and read(run_dir / "run.json").get("status") == "running":
            if diagnosis.reason is not None and not requested:
                requested = True
                request_stop(run_dir, by=BY_FINDING, reason=diagnosis.reason.words, **facts_of(diagnosis.reason))
                _say(f"{diagnosis.reason.words}: the run is asked to stop after this step, with a checkpoint")
            _tell(diagnosis)
            time.sleep(PAUSE)
    finally:
        diagnosis.stop()
        _tell(diagnosis)


def _tell(diagnosis: LiveDiagnosis) -> None:
    if diagnosis.trouble:
        _say(diagnosis.trouble)
        diagnosis.trouble = ""


def _say(text: str) -> None:
    print(f"klinic: {text}", file=sys.stderr, flush=True)


def main(words: list[str] | None = None) -> int:
    """RUN_DIR PARENT LAUNCHED; what to do stands in the environment."""
    run_dir, parent, launched = sys.argv[1:] if words is None else words
    wanted, problems = asked(*(os.environ.get(name, "") for name in WATCHED))
    for problem in problems:
        _say(f"{problem}; the training goes on without it")
        with contextlib.suppress(StreamError):
            note(Path(run_dir), "attendance failed", None, reason=problem)
    if wanted.any or on(os.environ.get(WRITE_BACK, "")):
        with contextlib.suppress(OSError):
            os.nice(NICENESS)
        attend(Path(run_dir), wanted, int(parent), float(launched))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
