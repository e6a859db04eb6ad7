"""Read what is appended to the run directory's files while they grow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Tail:
    """New whole lines of a file; a file that is not there yet has none."""

    def __init__(self, path: Path, from_end: bool = False) -> None:
        self.path = path
        self._place = path.stat().st_size if from_end and path.exists() else 0
        self._rest = b""

    def lines(self) -> list[str]:
        """Lines that were finished since the last call."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._place)
                fresh = file.read(4 * 2**20)
        except OSError:
            return []
        self._place += len(fresh)
        *whole, self._rest = (self._rest + fresh).split(b"\n")
        return [line.decode("utf-8", "replace") for line in whole]

    def records(self) -> Iterator[dict[str, Any]]:
        """The same as JSON objects; what is none is passed over."""
        for line in self.lines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found
