"""How many torch threads a process may use: Ray sets OMP_NUM_THREADS to an actor's logical CPUs, mostly 1."""

from __future__ import annotations

import os

NAMED = "KLINIC_THREADS"


def threads(sharing: int = 1) -> int:
    """Threads for one of `sharing` processes that compute at the same time.

    KLINIC_THREADS where it is set, else the CPUs that this process may use, divided among them.
    """
    named = os.environ.get(NAMED, "")
    if named.isdecimal() and int(named) > 0:
        return int(named)
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cpus // max(1, sharing))
