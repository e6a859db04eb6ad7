"""A run that a tracking server holds, as a folder of this process that is brought up to date now and then."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path


class CopiedRun(ABC):
    """`shown` is the run's address as it may be said. The folder goes away with the process."""

    every_s = 20.0  # between two looks at the same run

    def __init__(self, address: str) -> None:
        self.shown = address
        self.folder = Path(tempfile.mkdtemp(prefix="klinic-run-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self._looked = float("-inf")

    def fresh(self) -> Path:
        """What there is to read, brought up to date unless that was done a moment ago. Raises ReadError."""
        if time.monotonic() - self._looked >= self.every_s:
            self.update()
            self._looked = time.monotonic()
        return self.place

    @property
    @abstractmethod
    def place(self) -> Path:
        """The file or folder to read."""

    @abstractmethod
    def update(self) -> None:
        """Write what is new. Raises ReadError."""

    def write(self, name: str, text: str) -> None:
        """In the place of the old file, so that nobody reads half of it."""
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_name(f".{place.name}.new")
        fresh.write_text(text, "utf-8")
        fresh.replace(place)
