"""Deliver messages of one channel in a thread of its own: tried again with growing pauses, never in anybody's way."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.mask import Mask
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.senders import deliver
from klinic.diagnostics.alerts.wire import TIMEOUT, DeliveryError

ROOM = 100  # messages that wait


@dataclass(frozen=True)
class Patience:
    """tries: attempts a message. first: seconds before the second one, doubled each time up to `longest`.

    A server that asks for more time gets it, up to `longest`.
    """

    tries: int = 6
    first: float = 1.0
    longest: float = 300.0
    timeout: float = TIMEOUT

    def pause(self, attempt: int, asked: float | None) -> float:
        """Seconds before the next attempt."""
        own = min(self.first * 2.0 ** (attempt - 1), self.longest) * random.uniform(0.8, 1.2)  # noqa: S311 (no secret)
        return min(max(own, asked or 0.0), self.longest)


@dataclass(frozen=True)
class Receipt:
    """What became of a message: `trouble` is empty where it was delivered."""

    channel: str
    message: Message
    attempts: int
    trouble: str = ""


class Courier:
    """Takes messages at once and delivers them one after the other. `receipt` is called from its thread."""

    def __init__(
        self, channel: Channel, mask: Mask, receipt: Callable[[Receipt], None], patience: Patience | None = None
    ) -> None:
        self.channel, self._mask, self._receipt = channel, mask, receipt
        self._patience = patience or Patience()
        self._waiting: queue.Queue[Message | None] = queue.Queue(ROOM)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"klinic-alerts-{channel.name}", daemon=True)
        self._thread.start()

    def take(self, message: Message) -> None:
        """Put a message in line; where too many wait, it is given up and said so."""
        try:
            self._waiting.put_nowait(message.masked(self._mask))
        except queue.Full:
            self._receipt(Receipt(self.channel.name, message, 0, f"{ROOM} messages wait already; this one is given up"))

    def close(self, deadline: float) -> None:
        """Deliver what waits until `deadline` (of time.monotonic), then give up."""
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            self._closing.set()
        self._thread.join(max(0.0, deadline - time.monotonic()))
        self._closing.set()
        self._thread.join(0.2)

    def _work(self) -> None:
        while (message := self._waiting.get()) is not None:
            self._receipt(self._delivered(message))

    def _delivered(self, message: Message) -> Receipt:
        attempt = 1
        while (trouble := self._tried(message)) is not None:
            last = attempt >= self._patience.tries or not trouble.again
            if last or self._closing.wait(self._patience.pause(attempt, trouble.wait)):
                return Receipt(self.channel.name, message, attempt, self._mask(trouble.words))
            attempt += 1
        return Receipt(self.channel.name, message, attempt)

    def _tried(self, message: Message) -> DeliveryError | None:
        try:
            deliver(message, self.channel, time.time(), self._patience.timeout)
        except DeliveryError as trouble:
            return trouble
        except Exception as error:  # a sender's own mistake must not end the thread
            return DeliveryError(f"{type(error).__name__}: {error}", again=False)
        return None
