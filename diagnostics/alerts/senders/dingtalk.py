"""DingTalk: a group robot with Markdown; signed where the robot has a secret.

The signature is the Base64 of HMAC-SHA256 over `<milliseconds>\\n<secret>`, keyed by the secret; it stands in the
address. An error comes with HTTP 200 and an errcode other than 0.
Source: https://open.dingtalk.com/document/orgapp/custom-robots-send-group-messages (Markdown, errcodes, 20 messages a
minute) and /document/robots/customize-robot-security-settings (the signature).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import urllib.parse

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.senders._errcode import errcode
from klinic.diagnostics.alerts.senders._text import cut
from klinic.diagnostics.alerts.wire import Answer, DeliveryError, Request

SUMMARY = "DingTalk, a group's custom robot; secret: its signing key (SEC...)"
TAKES = ("url", "secret")
TITLE, TEXT = 120, 16_000  # a body may have 20,000 bytes
BUSY = {-1: 5.0, 410100: 60.0, 130101: 60.0, 90030: 60.0}  # errcode -> seconds: system busy; too many messages


def request(message: Message, channel: Channel, now: float) -> Request:
    """Markdown; an empty line between paragraphs, since DingTalk joins single lines."""
    parts = [f"### {message.title}", f"**Run** {message.run}  {message.place}".strip(), message.story]
    parts += ["\n".join(f"- {item}" for item in message.evidence), message.why]
    if message.prescription:
        parts.append("**Prescription**\n\n" + "\n".join(f"> {item}\n" for item in message.prescription))
    text = cut("\n\n".join(filter(None, parts)), TEXT)
    body = {"msgtype": "markdown", "markdown": {"title": cut(message.title, TITLE), "text": text}}
    return Request(channel.url + _signature(channel.secret, channel.url, now), {**body, "at": {"isAtAll": False}})


def _signature(secret: str, url: str, now: float) -> str:
    if not secret:
        return ""
    milliseconds = str(round(now * 1000))
    sign = hmac.new(secret.encode(), f"{milliseconds}\n{secret}".encode(), hashlib.sha256).digest()
    query = urllib.parse.urlencode({"timestamp": milliseconds, "sign": base64.b64encode(sign).decode()})
    return f"{'&' if '?' in url else '?'}{query}"


def refused(answer: Answer) -> DeliveryError | None:
    """What the body says went wrong."""
    return errcode(answer, BUSY)
