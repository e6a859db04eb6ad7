"""Blocks of a source, of which a session that can work ahead is told before their turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

AHEAD = 2  # blocks

Foresee = Callable[[bytes], None]


def foreseen(found: Iterator[bytes], tells: Callable[[], Foresee | None]) -> Iterator[bytes]:
    """The same blocks. tells: whom to tell by now, None where nobody wants to know.

    What came before an error of the source is given all the same.
    """
    coming: deque[bytes] = deque()
    try:
        for data in found:
            coming.append(data)
            foresee = tells()
            if foresee is not None:
                foresee(data)
            while len(coming) > (AHEAD if foresee else 0):
                yield coming.popleft()
    except OSError:
        yield from coming
        raise
    yield from coming
