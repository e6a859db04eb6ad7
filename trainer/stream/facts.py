"""What a manifest says about the machine: versions, hardware and the commit of the working directory."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("klinic", "verl", "torch", "transformers", "ray", "vllm", "TransferQueue", "numpy")


def versions() -> dict[str, str]:
    """Installed versions of what a run depends on, Python's included; absent packages are left out."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def hardware() -> dict[str, object]:
    """CPU count usable by this process; memory of the machine and what is in use of it now, in GiB."""
    facts: dict[str, object] = {
        "platform": platform.platform(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": _memory_gb(),
        "memory_used_gb": _memory_used_gb(),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None


def _memory_used_gb() -> float | None:
    """As verl's perf/cpu_memory_used_gb counts it, so that a run's own part of that metric can be told."""
    try:
        from psutil import virtual_memory  # type: ignore[import-untyped]
    except ImportError:
        return None
    return round(float(virtual_memory().used) / 2**30, 2)


def git_commit(folder: str | os.PathLike[str] = ".") -> str | None:
    """The commit checked out in `folder`, with "-dirty" where files differ; None outside a repository."""
    command = ["git", "-C", str(Path(folder)), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
