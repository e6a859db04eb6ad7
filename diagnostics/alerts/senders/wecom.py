"""WeCom: a group robot with Markdown of at most 4096 bytes; an error comes with HTTP 200 and an errcode.

Source: https://developer.work.weixin.qq.com/document/path/91770 (message types, colours, 20 messages a minute).
"""

from __future__ import annotations

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.senders._errcode import errcode
from klinic.diagnostics.alerts.senders._text import cut
from klinic.diagnostics.alerts.wire import Answer, DeliveryError, Request

SUMMARY = "WeCom, a group robot"
TAKES = ("url",)
TEXT = 4096  # bytes of UTF-8
COLOURS = {"error": "warning", "warn": "warning"}  # WeCom knows info, comment and warning
BUSY = {-1: 5.0, 45009: 60.0, 45033: 5.0}  # errcode -> seconds: system busy; over 20 messages a minute; at once


def request(message: Message, channel: Channel, now: float) -> Request:
    """Markdown, the heading in colour."""
    tint = COLOURS.get(str(message.severity), "info")
    parts = [f'### <font color="{tint}">{_plain(message.title)}</font>']
    parts += [f"**Run** {_plain(message.run)}  {message.place}".strip(), _plain(message.story)]
    parts += [f"> {_plain(item)}" for item in message.evidence]
    parts += [_plain(message.why)]
    if message.prescription:
        parts += ["**Prescription**", *(f"`{_plain(item)}`" for item in message.prescription)]
    text = cut("\n".join(filter(None, parts)), TEXT)
    return Request(channel.url, {"msgtype": "markdown", "markdown": {"content": text}})


def _plain(text: str) -> str:
    """`<@all>` in a log must not call anybody."""
    return text.replace("<", "‹").replace(">", "›")


def refused(answer: Answer) -> DeliveryError | None:
    """What the body says went wrong."""
    return errcode(answer, BUSY)
