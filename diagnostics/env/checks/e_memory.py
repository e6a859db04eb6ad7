"""Main memory and shared memory, a container's limits included."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from klinic.diagnostics.env.groups import groups, text_of
from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.language import tr

TOPIC = "Machine"
LEAST, LEAST_GPU, DOCKER = 4.0, 32.0, 0.0625  # GiB; Docker gives a container 64 MiB of shared memory
STORE = 0.3  # share of main memory that Ray's object store takes


def lines(machine: Machine) -> Iterator[Line]:
    """RAM within the container's limit, and /dev/shm against what Ray will put there."""
    total, limit = _total(machine.root), cgroup_memory(machine.root)
    usable = min(total, limit) if limit else total
    yield _memory(total, limit, usable, LEAST_GPU if machine.cards else LEAST)
    yield _shared(machine.root, usable)


def _memory(total: float, limit: float | None, usable: float, least: float) -> Line:
    found = f"{total:.1f} GiB" + (tr(", this container may use {:.1f}", limit) if limit and limit < total else "")
    wanted = tr("{:g} GiB; with offload 12 to 16 bytes a parameter more", least)
    if usable < least:
        return Line(
            "memory", TOPIC, found, wanted, tr("a smaller model, or raise the container's limit (--memory)"), "note"
        )
    return Line("memory", TOPIC, found, wanted)


def _total(root: Path) -> float:
    for line in text_of(root / "proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) / 2**20
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def cgroup_memory(root: Path) -> float | None:
    """GiB that the control group of this process may use, the tightest of its parents'; None without a limit."""
    limits = [value for path in groups(root, "memory") for value in _limit(path)]
    return min(limits) / 2**30 if limits else None


def _limit(folder: Path) -> Iterator[int]:
    for name in ("memory.max", "memory.limit_in_bytes"):
        text = text_of(folder / name).strip()
        if text.isdecimal() and int(text) < 2**60:  # version 1 writes a huge number for no limit
            yield int(text)


def _shared(root: Path, memory: float) -> Line:
    try:
        stat = os.statvfs(root / "dev/shm")
    except OSError:
        return Line(
            "shared-memory", TOPIC, tr("no /dev/shm"), tr("a tmpfs"), "mount -t tmpfs tmpfs /dev/shm", "missing"
        )
    free, store = stat.f_bavail * stat.f_frsize / 2**30, memory * STORE
    found, wanted = (
        tr("{:.1f} GiB free in /dev/shm", free),
        tr("{:.1f} GiB for Ray's object store ({:.0%} of RAM)", store, STORE),
    )
    fix = f"docker run --shm-size={max(1, round(store))}g, or --ipc=host"
    if free <= DOCKER:
        return Line(
            "shared-memory", TOPIC, found, wanted, tr("{}; NCCL and data loaders fail with this little", fix), "missing"
        )
    if free < store:
        return Line(
            "shared-memory", TOPIC, found, wanted, tr("{}; or Ray falls back to /tmp, which is slow", fix), "note"
        )
    return Line("shared-memory", TOPIC, found, wanted)
