"""Where klinic keeps what can be worked out again: in XDG_CACHE_HOME or ~/.cache, or where KLINIC_CACHE says.

What others may write there is not read.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from klinic.diagnostics.files.home import home


def folder() -> Path | None:
    """The folder, which need not be there yet; None where nothing is to be kept."""
    named = os.environ.get("KLINIC_CACHE", "")
    if named.lower() == "off":
        return None
    if named:
        return Path(named)
    if above := os.environ.get("XDG_CACHE_HOME"):
        return Path(above) / "klinic"
    own = home()
    return own / ".cache" / "klinic" if own else None


def is_ours(status: os.stat_result) -> bool:
    """Whether this is a plain file of ours that nobody else may write."""
    mine = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return stat.S_ISREG(status.st_mode) and mine and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
