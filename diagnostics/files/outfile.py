"""Put what a command made into a file: whole or not at all, and never waiting without end."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from pathlib import Path

WAIT = 5.0  # seconds that the reader of a named pipe is waited for


def write_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file through a temporary one beside it, so that nobody sees half of it; a folder that lacks is made.

    A pipe gets its bytes once it has a reader, a device at once. mode: permissions, less the umask. Raises OSError.
    """
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
        _into(path, data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:100]}.", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            Path(file.name).chmod(mode & ~_umask())
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def _into(path: Path, data: bytes) -> None:
    with os.fdopen(_opened(path), "wb") as stream:
        stream.write(data)


def _opened(path: Path) -> int:
    """A descriptor to write to; of a pipe once somebody reads it. Raises OSError."""
    until = time.monotonic() + WAIT
    while True:
        try:
            found = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(path.stat().st_mode):
                raise
            if time.monotonic() > until:
                told = f"a pipe that nobody reads (waited {WAIT:g} s); start its reader first"
                raise OSError(errno.ENXIO, told, str(path)) from None
            time.sleep(0.02)
        else:
            os.set_blocking(found, True)
            return found


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
