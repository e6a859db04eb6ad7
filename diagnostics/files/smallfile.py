"""Read what a person wrote by hand (cards, configs, labels): never a device, a silent pipe, or more than fits."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

from klinic.diagnostics.files.pipe import opened
from klinic.diagnostics.readerror import ReadError

MOST = 64 << 20  # bytes


def small_file(path: Path) -> bytes:
    """All bytes of a file or of a pipe that has a writer. Raises OSError, whose text is one line."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "a device, no file", str(path))
    try:
        with opened(path) as stream:
            data = stream.read(MOST + 1)
    except ReadError as error:
        raise OSError(errno.EAGAIN, str(error).removeprefix(f"{path}: "), str(path)) from None
    if len(data) > MOST:
        raise OSError(errno.EFBIG, f"more than {MOST >> 20} MiB", str(path))
    return data
