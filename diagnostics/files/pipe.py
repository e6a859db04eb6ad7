"""Opening what may be no plain file: a pipe that nobody writes to, a device that never ends."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from klinic.diagnostics.readerror import ReadError

WAIT = 5.0  # seconds that a named pipe is waited for; `<(command)` has its writer from the start
STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def refuse_device(path: Path) -> None:
    """ReadError for a device or a socket: reading it may never end, or change it."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        what = "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise ReadError(f"{path}: {what}, no log; give a log file, a run directory, or - for stdin")


def standard_input() -> BinaryIO:
    """stdin as bytes; ReadError where it is closed, or a device that never ends."""
    if sys.stdin is None:
        raise ReadError("-: stdin is closed; give it a log (klinic diagnose - < run.log)")
    with contextlib.suppress(OSError, ValueError):  # put in its place by a program: no file
        at = os.fstat(sys.stdin.fileno())
        if stat.S_ISCHR(at.st_mode) and not sys.stdin.isatty() and not os.path.samestat(at, Path(os.devnull).stat()):
            raise ReadError("-: stdin is a device, no log; give it a log (klinic diagnose - < run.log)")
    return sys.stdin.buffer


def opened(path: Path) -> BinaryIO:
    """The file, open for reading; ReadError for a pipe without a writer. Raises OSError."""
    if not path.is_fifo():
        return path.open("rb")
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    if not waiting.poll(WAIT * 1000) and _silent(pipe):
        os.close(pipe)
        raise ReadError(f"{path}: a pipe that nobody writes to (waited {WAIT:g} s); start its writer first")
    os.set_blocking(pipe, True)
    return os.fdopen(pipe, "rb")


def _silent(pipe: int) -> bool:
    """Whether a pipe without data has no writer either."""
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:  # a writer that has written nothing yet
        return False
