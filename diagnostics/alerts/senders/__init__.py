"""One sender a file, found by its place: `SUMMARY`, and `request(message, channel, now)` or `deliver(...)`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.wire import DeliveryError, post


@cache
def senders() -> dict[str, ModuleType]:
    """Name -> module of every sender."""
    found = [each.name for each in pkgutil.iter_modules(__path__) if not each.name.startswith("_")]
    return {name.rstrip("_"): importlib.import_module(f"{__name__}.{name}") for name in found}


def deliver(message: Message, channel: Channel, now: float, timeout: float) -> None:
    """Send a message once. now: seconds since the epoch, for signatures. Raises DeliveryError."""
    sender = senders()[channel.kind]
    if hasattr(sender, "deliver"):
        sender.deliver(message, channel, timeout)
        return
    answer = post(sender.request(message, channel, now), timeout)
    refused: DeliveryError | None = sender.refused(answer) if hasattr(sender, "refused") else None
    if refused is not None:
        raise refused
