"""The user's own folder, which a container or a user without an account may lack."""

from __future__ import annotations

from pathlib import Path


def home() -> Path | None:
    """HOME, else what the system's accounts say; None where neither says any."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def expanded(name: str | Path) -> Path:
    """The path with the folder that its `~` or `~NAME` stands for; as it is where there is no such user."""
    path = Path(name)
    try:
        return path.expanduser()
    except RuntimeError:
        return path
