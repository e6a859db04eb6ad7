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
from klinic.trainer.launch.doctor import Doctor
from klinic.trainer.launch.errands import Errands
from klinic.trainer.launch.run import facts_of
from klinic.trainer.plugin.environ import ALERTS, STOP_ON, WATCHED, WRITE_BACK, off, on
from klinic.trainer.stream import StreamError, note, request_stop
from klinic.trainer.stream.manifest import read

PAUSE = 0.5  # seconds between looks at the doctor
NICENESS = 5


def errands(stop_on: str, alerts: str, write_back: str = "") -> tuple[Errands, list[str]]:
    """What the variables ask for, and one line for each that cannot be used."""
    from klinic.diagnostics.alerts.config import load
    from klinic.diagnostics.live.stopon import StopOn
    from klinic.diagnostics.settings import SettingsError

    wanted, problems = Errands(write_back=not off(write_back)), []
    try:
        wanted.stop_on = StopOn.parse(stop_on) if stop_on else None
    except ValueError as error:
        problems.append(f"{STOP_ON}: {error}")
    try:
        wanted.alerts = load(Path(alerts)) if alerts else None
    except SettingsError as error:
        problems.append(f"{ALERTS}: {error}")
    return wanted, problems


def attend(run_dir: Path, wanted: Errands, parent: int) -> None:
    """Stay until the run has ended or process `parent` is gone."""
    doctor = Doctor(run_dir, wanted)
    doctor.start()
    asked = False
    try:
        while os.getppid() == parent and read(run_dir / "run.json").get("status") == "running":
            if doctor.reason is not None and not asked:
                asked = True
                request_stop(run_dir, by=BY_FINDING, reason=doctor.reason.words, **facts_of(doctor.reason))
                _say(f"{doctor.reason.words}: the run is asked to stop after this step, with a checkpoint")
            _tell(doctor)
            time.sleep(PAUSE)
    finally:
        doctor.stop()
        _tell(doctor)


def _tell(doctor: Doctor) -> None:
    if doctor.trouble:
        _say(doctor.trouble)
        doctor.trouble = ""


def _say(text: str) -> None:
    print(f"klinic: {text}", file=sys.stderr, flush=True)


def main(words: list[str] | None = None) -> int:
    """RUN_DIR PARENT; what to do stands in the environment."""
    run_dir, parent = (sys.argv[1:] if words is None else words)[:2]
    wanted, problems = errands(*(os.environ.get(name, "") for name in WATCHED))
    for problem in problems:
        _say(f"{problem}; the training goes on without it")
        with contextlib.suppress(StreamError):
            note(Path(run_dir), "attendance failed", None, reason=problem)
    if wanted.any or on(os.environ.get(WRITE_BACK, "")):
        with contextlib.suppress(OSError):
            os.nice(NICENESS)
        attend(Path(run_dir), wanted, int(parent))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
