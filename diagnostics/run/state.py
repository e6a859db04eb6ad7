"""What a run is doing now, derived from its manifest, its last sign of life and its last step."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from itertools import pairwise
from statistics import median
from typing import Any

from klinic.diagnostics.run.model import Run

SILENT_S, SILENT_STEPS = 60.0, 5  # no heartbeat for the longer of these: the process is gone
STALLED_S, STALLED_STEPS = 300.0, 10  # alive, but no step for the longer of these
STARTING_S = 1800.0  # loading models, starting Ray and the first rollout may take this long
MANY = 64  # of the latest rows, among which 21 with a time usually are
UNKNOWN = "unknown"
BY_FINDING = "stop-on"  # who asked for a stop that a finding was the reason for


def state(run: Run, now: float | None = None) -> str:
    """running, stalled, interrupted, finished, failed or stopped; "unknown" where there is no manifest.

    now: seconds since the epoch, the clock's time where it is not given. A run whose manifest says `running` is
    interrupted where its process is gone on this host, or where no heartbeat came for max(60 s, 5 steps); it is
    stalled where it lives but wrote no step for max(300 s, 10 steps), or none within 30 min of its start.
    """
    now = time.time() if now is None else now
    stored = str(run.manifest.get("status") or UNKNOWN)
    if stored != "running":
        return stored
    pace = seconds_per_step(run) or 0.0
    if _process_gone(run.manifest) or _silent(run.manifest, now, max(SILENT_S, SILENT_STEPS * pace)):
        return "interrupted"
    return "stalled" if _stalled(run, now, pace) else "running"


def seconds_per_step(run: Run) -> float | None:
    """Median time between the rows of the last attempt (its last 20), in seconds; None where times are unknown."""
    if not run.attempts or "time" not in run.frame.columns:
        return None
    last = run.attempts[-1]
    times = run.frame["time"].slice(last.first_row, last.rows)
    known = [time for time in times.tail(MANY).to_list() if time is not None][-21:]
    known = known if len(known) == 21 else times.drop_nulls().tail(21).to_list()
    steps = [later - earlier for earlier, later in pairwise(known)]
    pace = median(steps) if steps else -1.0
    return pace if pace >= 0 else None


def _process_gone(manifest: Mapping[str, Any]) -> bool:
    """Whether the writer ran on this host and is no more; False where that cannot be told."""
    pid, host = manifest.get("pid"), manifest.get("host")
    if not isinstance(pid, int) or pid <= 0 or host != socket.gethostname():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _silent(manifest: Mapping[str, Any], now: float, limit: float) -> bool:
    beat = _seconds(manifest, "heartbeat", "start")
    return beat is not None and now - beat > limit


def _stalled(run: Run, now: float, pace: float) -> bool:
    known = run.frame["time"].drop_nulls() if run.frame.height else None
    if known is not None and known.len():
        last = float(known[-1])  # not the latest of all: a clock that was set back made later rows look older
        started = max(
            (event.time for event in run.events if event.time and event.kind in ("started", "resumed")), default=0
        )
        if started <= last or started > now:
            return now - last > max(STALLED_S, STALLED_STEPS * pace)
        return now - started > STARTING_S
    start = _seconds(run.manifest, "start")
    return start is not None and now - start > STARTING_S


def _seconds(manifest: Mapping[str, Any], *keys: str) -> float | None:
    for key in keys:
        value = manifest.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None
