"""A dashboard beside a training: started with it, ended with it, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START = "from klinic.diagnostics.cli import main; main()"
GRACE_S = 5.0


@contextmanager
def with_dashboard(run_dir: Path, wanted: bool) -> Iterator[None]:
    """Serve a dashboard of a run directory on a free port while the body runs; it says its address on stdout.

    It has a session of its own: Ctrl-C is the training's to obey, and the pages stay until that has ended.
    """
    if not wanted:
        yield
        return
    run_dir.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-c", START, "dashboard", str(run_dir), "--port", "0", "--one-run"]
    process = subprocess.Popen(words, start_new_session=True)  # noqa: S603 (our own command)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(GRACE_S)
