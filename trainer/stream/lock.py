"""One writer a run directory: a lock file that names its holder and that the kernel frees when it dies."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from klinic.trainer.stream.errors import InUseError, StreamError

STALE_AFTER = 300.0  # seconds without a sign of life after which a holder on another host counts as gone


def alive(pid: int) -> bool:
    """Whether a process with this id exists on this host."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Lock:
    """Holds `path` from `take` to `release`; the file stays, since removing it would let two in at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = -1

    def take(self) -> None:
        """Take the lock. Raises InUseError, naming pid and host, where a live process holds it."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StreamError(f"cannot open {self.path}: {error.strerror}; check its permissions") from None
        holder = self._holder(fd)
        if self._held(fd, holder):
            os.close(fd)
            raise InUseError(
                f"{self.path.parent.parent} is being written by process {holder.get('pid', '?')} on "
                f"{holder.get('host', '?')}; stop that run or give this one another directory"
            )
        self._fd = fd
        self._write({"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()})

    def _held(self, fd: int, holder: dict[str, Any]) -> bool:
        """A lock is held by who lives: the kernel knows on this host, the file's age tells for another."""
        here = holder.get("host") in (None, socket.gethostname())
        if not here and time.time() - os.fstat(fd).st_mtime < STALE_AFTER:
            return True
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # a forked child of a dead holder keeps the kernel's lock: ask for the holder
            return "pid" not in holder or alive(int(holder["pid"]))
        except OSError:  # a file system without locks
            return here and "pid" in holder and alive(int(holder["pid"]))
        return False

    @staticmethod
    def _holder(fd: int) -> dict[str, Any]:
        try:
            found = json.loads(os.pread(fd, 4096, 0) or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, holder: dict[str, Any]) -> None:
        blob = json.dumps(holder).encode()
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, blob, 0)

    def touch(self) -> None:
        """Give a sign of life, for writers on other hosts."""
        if self._fd >= 0:
            os.utime(self._fd)

    def release(self) -> None:
        """Give the lock back; releasing twice is fine."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.ftruncate(fd, 0)
            os.close(fd)
