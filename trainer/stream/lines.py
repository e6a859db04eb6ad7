"""An append-only file of lines: one write() a line, torn lines closed off, full disks told apart."""

from __future__ import annotations

import os
from pathlib import Path

from klinic.trainer.stream.errors import StreamError


class LineFile:
    """Appends whole lines with one write() each; a kill at any byte costs at most the line being written.

    Data goes to the kernel at once (a killed process loses nothing that `append` returned from). It is forced
    to the disk by `sync`, which the run directory calls at checkpoints and at the end, not at every step.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StreamError(f"cannot open {path}: {error.strerror}; check its permissions") from None
        self._torn = self._ends_torn()

    @property
    def size(self) -> int:
        """Bytes in the file now."""
        return os.fstat(self._fd).st_size

    def _ends_torn(self) -> bool:
        size = self.size
        return size > 0 and os.pread(self._fd, 1, size - 1) != b"\n"

    def append(self, line: bytes) -> None:
        """Write one line, its newline included. Raises StreamError where the file cannot take it whole."""
        blob = b"\n" + line if self._torn else line
        try:
            written = os.write(self._fd, blob)
            if written < len(blob):
                written += os.write(self._fd, blob[written:])
        except OSError as error:
            self._torn = self._ends_torn()
            raise StreamError(
                f"cannot write {self.path}: {error.strerror}; free space or fix the disk, then resume the run"
            ) from None
        self._torn = written < len(blob)

    def sync(self) -> None:
        """Force what was written to the disk."""
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise StreamError(f"cannot sync {self.path}: {error.strerror}; check the disk") from None

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
