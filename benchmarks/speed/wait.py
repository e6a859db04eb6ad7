"""How long a benchmark may take: in all, and for each thing that it waits for."""

from __future__ import annotations

import subprocess
import sys
import time

MOST_S = 600  # one process; a tool that takes minutes here takes four times as long on a machine that is shared


class Wait:
    """A run of the benchmark. minutes: after these nothing more is begun; what was begun is ended."""

    def __init__(self, minutes: float) -> None:
        self._minutes, self._started = minutes, time.monotonic()

    def left(self) -> float:
        """Seconds until the end."""
        return max(self._started + 60 * self._minutes - time.monotonic(), 0.0)

    def begin(self, what: str) -> float:
        """Tell what is waited for from now on; for how many seconds at most. TimeoutError where there are none."""
        limit = min(self.left(), MOST_S)
        if limit < 1:
            raise TimeoutError(f"not begun, the {self._minutes:g} minutes of this run are over (--minutes)")
        print(f"... {what} (at most {limit:.0f} s)", file=sys.stderr, flush=True)
        return limit


def said(error: Exception) -> str:
    """An error in a few words: the last that the process said, or how long it was given."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"not done after {error.timeout:.0f} s"
    words = str(getattr(error, "stderr", "") or error).strip().splitlines()
    return words[-1][:120] if words else type(error).__name__
