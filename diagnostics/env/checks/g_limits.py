"""Limits of the shell, and room on disk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.files.home import expanded
from klinic.diagnostics.language import tr

TOPIC = "Machine"
FILES, FEWEST, PROCESSES = 65536, 4096, 4096
ROOM, LITTLE, FULL = 20.0, 2.0, 0.95  # GiB; Ray refuses work on a disk that is fuller


def lines(machine: Machine) -> Iterator[Line]:
    """Open files, processes, and the disks of the runs, of Ray and of the models."""
    yield from _limits()
    hub = machine.variable("HF_HOME") or str(expanded(machine.variable("HOME") or "~") / ".cache/huggingface")
    rays = Path(machine.variable("RAY_TMPDIR") or tempfile.gettempdir())
    seen: dict[int, Line] = {}
    for name, path in (("disk-runs", machine.folder), ("disk-ray", rays), ("disk-models", Path(hub))):
        line, device = _disk(name, path)
        if line is not None and seen.setdefault(device, line) is line:
            yield line


def _limits() -> Iterator[Line]:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield _limit("open-files", soft, hard, FILES, FEWEST, "-n")
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    yield _limit("processes", soft, hard, PROCESSES, 512, "-u")


def _limit(name: str, soft: int, hard: int, wanted: int, least: int, flag: str) -> Line:
    unlimited = soft < 0
    found, asked = (tr("unlimited") if unlimited else str(soft)), tr("{} or more", wanted)
    if unlimited or soft >= wanted:
        return Line(name, TOPIC, found, asked)
    able = hard < 0 or hard >= wanted
    fix = (
        f"ulimit {flag} {wanted}"
        if able
        else tr("raise it in /etc/security/limits.conf, or docker run --ulimit; hard limit {}", hard)
    )
    return Line(name, TOPIC, found, asked, fix, "missing" if soft < least else "note")


def _disk(name: str, path: Path) -> tuple[Line | None, int]:
    """One line a disk: where two of the folders share one, the first stands for both."""
    there = next((one for one in (path.absolute(), *path.absolute().parents) if one.exists()), None)
    if there is None:
        return None, -1
    use = shutil.disk_usage(there)
    free, share = use.free / 2**30, use.used / max(1, use.used + use.free)
    found, wanted = (
        tr("{:.0f} GiB free, {:.0%} full ({})", free, share, there),
        tr("{:g} GiB; a checkpoint is 12 bytes a parameter and model", ROOM),
    )
    fix = tr(
        "delete old checkpoints, set trainer.max_actor_ckpt_to_keep; RAY_TMPDIR moves Ray's files, HF_HOME the models"
    )
    device = there.stat().st_dev
    if free < LITTLE or share >= FULL:
        return Line(name, TOPIC, found, tr("{}; below {:.0%} for Ray", wanted, FULL), fix, "missing"), device
    return Line(name, TOPIC, found, wanted, fix if free < ROOM else "", "note" if free < ROOM else "ready"), device
