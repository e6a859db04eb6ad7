"""Put the progress on the terminal: lines with a phase in front, on a real terminal with a live line below them."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

COLOURS = {"Init": "cyan", "Train": "green", "Val": "magenta", "Done": "bold"}


class Display:
    """Prints lines; `status` replaces the live line where there is a terminal and is silent elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(file=sys.stdout, highlight=False, soft_wrap=True)
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._status = Status("starting", console=self.console, spinner="dots")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def say(self, phase: str, text: str) -> None:
        """A line that stays."""
        self.console.print(f"[{COLOURS.get(phase, 'white')}]{phase:5}[/]  {escape(text)}")

    def status(self, phase: str, text: str) -> None:
        """The live line."""
        if self._status is not None:
            self._status.update(f"[{COLOURS.get(phase, 'white')}]{phase}[/]  {escape(text)}")
