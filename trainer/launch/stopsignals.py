"""What signals ask of the launcher: stop, kill, read the reward again."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any, Self


class StopSignals:
    """Counts signals while it is entered and restores the handlers afterwards.

    stop: the signal that asked to stop first, None while none did. again: it was asked a second time. reread: SIGHUP
    came since the last look.
    """

    def __init__(self) -> None:
        self.stop: signal.Signals | None = None
        self.again = False
        self.reread = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._stopped)
        self._before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._hung_up)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stopped(self, number: int, frame: FrameType | None) -> None:
        self.again = self.stop is not None
        self.stop = self.stop or signal.Signals(number)

    def _hung_up(self, number: int, frame: FrameType | None) -> None:
        self.reread = True
