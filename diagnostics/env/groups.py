"""Control groups: the limits that a container or a job sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def groups(root: Path, controller: str) -> Iterator[Path]:
    """Folders of this process's group and its parents, versions 1 and 2, as seen from a container too."""
    base = root / "sys/fs/cgroup"
    for line in text_of(root / "proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        if names and controller not in names.split(","):
            continue
        folder = base / controller if names else base
        parts = Path(path.lstrip("/")).parts
        for depth in range(len(parts), -1, -1):
            yield folder.joinpath(*parts[:depth])


def text_of(path: Path) -> str:
    """A file's text, empty where it cannot be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
