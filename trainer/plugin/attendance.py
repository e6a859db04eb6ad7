"""KLINIC_STOP_ON, KLINIC_ALERTS and KLINIC_WRITE_BACK in a launch without klinic: a process that looks after the run;
the exit code."""

from __future__ import annotations

import atexit
import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from klinic.diagnostics.run.state import BY_FINDING
from klinic.trainer.plugin import environ
from klinic.trainer.stream.control import STOPPED_ILL
from klinic.trainer.stream.manifest import read

log = logging.getLogger("klinic.plugin")


def wanted() -> bool:
    """Whether the run is to be looked after."""
    named = os.environ.get(environ.STOP_ON) or os.environ.get(environ.ALERTS)
    return bool(named) or environ.on(os.environ.get(environ.WRITE_BACK, ""))


def attend(run_dir: Path) -> subprocess.Popen[bytes] | None:
    """Start looking after a run from a process of its own, which ends with this one; None where nobody asked."""
    if not wanted():
        return None
    launched = repr(time.time())  # steps are written while that process comes up
    # -P: a package of our name in the working directory must not be taken for klinic.
    command = [sys.executable, "-P", "-m", "klinic.trainer.launch.attend", str(run_dir), str(os.getpid()), launched]
    try:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
    except OSError as error:
        log.error("nobody looks after %s: %s", run_dir, error)
        return None


def leave_truthfully(config: Any) -> None:
    """Have verl's driver end with exit code 3 where the run was stopped for a finding; without this it would be 0."""
    if not os.environ.get(environ.STOP_ON):
        return
    trainer = getattr(config, "trainer", None)
    names = (getattr(trainer, "project_name", ""), getattr(trainer, "experiment_name", ""))
    atexit.register(_leave, environ.directory(*map(str, names)).absolute())


def _leave(run_dir: Path) -> None:
    if stopped_for_a_finding(run_dir):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(STOPPED_ILL)


def stopped_for_a_finding(run_dir: Path) -> bool:
    """Whether its manifest says so."""
    found = read(run_dir / "run.json")
    by = found.get("stopped_by")
    return found.get("status") == "stopped" and isinstance(by, dict) and by.get("by") == BY_FINDING
