"""Pages first: reading and judging wait while an answer is being made, since all want the one interpreter."""

from __future__ import annotations

import threading
import time
from typing import Any

from flask import Flask, g

AWAY = 60.0  # seconds after which nobody is looking, where no answer was asked for
MOST = 0.5  # seconds that work in the background is held up at once, so that many pages do not end it


class Courtesy:
    """Counts the answers that are being made; `wait` is called between two pieces of work."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._answering = 0
        self._called = threading.Event()
        self._last = time.monotonic()

    def begin(self) -> None:
        """An answer is being made."""
        self._last = time.monotonic()
        self._called.set()
        with self._free:
            self._answering += 1

    def end(self) -> None:
        """It was made."""
        with self._free:
            self._answering -= 1
            self._free.notify_all()

    def away(self) -> bool:
        """Whether no page has been open for a while: an open one asks each second or so."""
        return time.monotonic() - self._last > AWAY

    def sleep(self, seconds: float) -> None:
        """Until somebody asks for an answer again, or for so long."""
        self._called.clear()
        self._called.wait(seconds)

    def wake(self) -> None:
        """End a sleep."""
        self._called.set()

    def wait(self) -> bool:
        """Until no answer is being made, or for half a second; whether none is."""
        with self._free:
            return self._free.wait_for(lambda: not self._answering, MOST)


def observe(server: Flask, courtesy: Courtesy) -> None:
    """Tell of every answer of a server."""

    def begin() -> None:
        courtesy.begin()
        g.courtesy = True

    def end(_error: Any) -> None:
        if g.pop("courtesy", False):
            courtesy.end()

    server.before_request(begin)
    server.teardown_request(end)
