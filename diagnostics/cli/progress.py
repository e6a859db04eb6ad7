"""How far a long piece of work is, on stderr where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE_S = 1.0  # what is over sooner needs no bar
WIDTH = 30


@contextmanager
def progress(word: str = "judged") -> Iterator[Callable[[int, int], None]]:
    """Call what it gives with (done, total); the line is wiped when the work is over, or something went wrong."""
    began, shown = time.monotonic(), False

    def seen(done: int, total: int) -> None:
        nonlocal shown
        if sys.stderr.isatty() and total > 1 and time.monotonic() - began > PATIENCE_S:
            full = WIDTH * done // total
            sys.stderr.write(f"\r{word} {done} of {total} [{'#' * full}{' ' * (WIDTH - full)}]")
            sys.stderr.flush()
            shown = True

    try:
        yield seen
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
