"""Pages first: reading and judging wait while an answer is being made, since all want the one interpreter."""

from __future__ import annotations

import threading
from typing import Any

from flask import Flask, g

MOST = 0.5  # seconds that work in the background is held up at once, so that many pages do not end it


class Courtesy:
    """Counts the answers that are being made; `wait` is called between two pieces of work."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._answering = 0

    def begin(self) -> None:
        """An answer is being made."""
        with self._free:
            self._answering += 1

    def end(self) -> None:
        """It was made."""
        with self._free:
            self._answering -= 1
            self._free.notify_all()

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
