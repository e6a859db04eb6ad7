"""Which rollout batches are on their way in this process, so that the trainer can wait instead of polling."""

from __future__ import annotations

import threading

_LOOK = 1.0  # seconds after which the trainer looks at its buffer even though a batch is still on its way


class Flight:
    """Counts batches between departure and arrival; keeps the first error for whoever waits."""

    def __init__(self) -> None:
        self._arrival = threading.Condition()
        self._flying = 0
        self._error: BaseException | None = None

    def depart(self) -> None:
        """A batch is sent to the rollout."""
        with self._arrival:
            self._flying += 1

    def arrive(self, error: BaseException | None = None) -> None:
        """A batch is in the trainer's store, or failed as a whole."""
        with self._arrival:
            self._flying -= 1
            self._error = self._error or error
            self._arrival.notify_all()

    def wait(self) -> None:
        """Return when no batch is on its way, or after a second; raise what made one fail."""
        with self._arrival:
            self._arrival.wait_for(lambda: not self._flying or self._error, timeout=_LOOK)
            error, self._error = self._error, None
        if error is not None:
            raise RuntimeError(f"the rollout failed: {type(error).__name__}: {error}") from error


flight = Flight()
