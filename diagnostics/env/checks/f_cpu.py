"""CPUs that this process may use, a container's quota included."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from klinic.diagnostics.env.groups import groups, text_of
from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.language import tr

TOPIC = "Machine"
LEAST, EACH_GPU = 2, 4


def lines(machine: Machine) -> Iterator[Line]:
    """Ray counts CPUs, not quotas: a small quota starts more workers than it can run."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cpu_quota(machine.root)
    usable = min(cpus, quota) if quota else cpus
    least = max(LEAST, EACH_GPU * len(machine.cards))
    found = f"{cpus}" + (tr(", a quota of {:g}", quota) if quota and quota < cpus else "")
    wanted = tr("{} or more", least) + (tr(", {} a GPU", EACH_GPU) if machine.cards else "")
    if quota and quota < cpus:
        fix = f"ray_kwargs.ray_init.num_cpus={max(1, int(quota))} and export OMP_NUM_THREADS={max(1, int(quota))}"
        yield Line("cpus", TOPIC, found, wanted, fix, "note")
    else:
        fix = "" if usable >= least else tr("it trains, slowly: scoring and loading wait for CPUs")
        yield Line("cpus", TOPIC, found, wanted, fix, "note" if fix else "ready")


def cpu_quota(root: Path) -> float | None:
    """CPUs' worth of time that the control group may use, the tightest of its parents'; None without a quota."""
    quotas = [quota for folder in groups(root, "cpu") for quota in _quota(folder)]
    return min(quotas) if quotas else None


def _quota(folder: Path) -> Iterator[float]:
    new = text_of(folder / "cpu.max").split()
    if len(new) == 2 and new[0].isdecimal():
        yield int(new[0]) / int(new[1])
    old, period = (text_of(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
    if old.isdecimal() and period.isdecimal() and int(old) > 0:
        yield int(old) / int(period)
