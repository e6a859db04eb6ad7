"""verl's process and everything it starts: Ray's daemons and workers carry a mark by which they are found again."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

MARK = "KLINIC_LAUNCH"
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Have the kernel end verl where the launcher is killed; Ray's own reaper then ends the rest."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Process:
    """A launch: its output goes to `console`, its process group is its own."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], console: Path) -> None:
        self.mark = uuid.uuid4().hex
        self.console = console
        with console.open("ab") as output:
            self._popen = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment, MARK: self.mark},
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )

    @property
    def pid(self) -> int:
        """Process id of verl's driver."""
        return self._popen.pid

    def poll(self) -> int | None:
        """Exit code, None while it runs."""
        return self._popen.poll()

    def family(self) -> list[int]:
        """Ids of all living processes of this launch, the driver's included."""
        found = [pid for pid in _processes() if self._marked(pid)]
        return found if found or self.poll() is not None else [self.pid]

    def _marked(self, pid: int) -> bool:
        try:
            inside = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False
        return f"{MARK}={self.mark}".encode() in inside

    def wait(self, seconds: float) -> int | None:
        """Exit code as soon as it has ended, None after `seconds`."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self, patience: float = 10.0) -> None:
        """End what is left of the launch: SIGTERM, `patience` seconds, SIGKILL."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + patience
        while self.family() and time.monotonic() < deadline:
            self.poll()
            time.sleep(0.1)
        self._signal(signal.SIGKILL)
        self.wait(10)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self.family():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue


def _processes() -> list[int]:
    try:
        return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]
    except OSError:
        return []
