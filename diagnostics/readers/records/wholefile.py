"""A file that is written as a whole: read when it has ended."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.run.events import Event


class Whole:
    """Collects the bytes; a format reports in `close` what they hold."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[Event]:
        """Collect."""
        self._data += data
        return iter(())
