"""Deep checks run in processes of their own: a crash, a hang or a missing package is a line, not an end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import EntryPoint

from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.language import later, tr

TOPIC, TIMEOUT = "Tried out", 240.0
# What is tried, for the column "wanted".
WANTED = {
    "probe-ray": later("Ray starts and runs a task"),
    "probe-loader": later("verl's data loader gives a batch"),
    "probe-generate": later("a model generates"),
}


def probed(entry: EntryPoint, machine: Machine, timeout: float = TIMEOUT) -> Line:
    """Run one probe: a function that prints what it found as its last line, or raises."""
    began = time.monotonic()
    wanted = tr(WANTED.get(entry.name, later("works")))
    code, said = _run(entry, machine, timeout)
    took = time.monotonic() - began
    if code == 0:
        return Line(entry.name, TOPIC, f"{said} ({took:.0f} s)", wanted)
    found = tr("no answer within {:g} s", timeout) if code is None else said or tr("exit status {}", code)
    return Line(entry.name, TOPIC, found, wanted, f"klinic explain {entry.name}", "missing")


def _run(entry: EntryPoint, machine: Machine, timeout: float) -> tuple[int | None, str]:
    """(exit status, last line said); None where the time ran out. What the probe started is ended with it."""
    program = f"import sys; from {entry.module} import {entry.attr} as probe; print(probe())"
    environment = {**os.environ, **machine.environment, "PYTHONWARNINGS": "ignore", "TOKENIZERS_PARALLELISM": "false"}
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            _end(process)
    return process.returncode, _last(out if process.returncode == 0 else err or out)


def _end(process: subprocess.Popen[str]) -> None:
    """End what is left of the probe's own session: Ray leaves processes behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
