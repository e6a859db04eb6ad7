"""Any service that takes JSON: the message as data, schema klinic/alert/1, with headers of your own."""

from __future__ import annotations

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.wire import Request

SUMMARY = "any address that takes JSON; headers: more of them"
TAKES = ("url", "headers")


def request(message: Message, channel: Channel, now: float) -> Request:
    """The message as plain data."""
    return Request(channel.url, message.data(), channel.headers)
