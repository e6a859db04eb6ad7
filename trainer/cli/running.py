"""Whether a run is being written at all, for commands that ask something of it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from klinic.diagnostics.cli.group import fail
from klinic.trainer.stream.lock import alive


def must_run(run: Path) -> None:
    """Leave with one line where the run has ended, or where there is none."""
    try:
        manifest = json.loads((run / "run.json").read_text("utf-8"))
    except (OSError, ValueError):
        fail(f"{run} is no run directory (run.json is missing or broken); check the path")
    status = manifest.get("status")
    gone = manifest.get("host") == socket.gethostname() and not alive(int(manifest.get("pid") or 0))
    if status != "running" or gone:
        fail(f"{run} is not running ({'its process is gone' if status == 'running' else status})")
