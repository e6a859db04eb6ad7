"""Feishu and Lark: a custom bot with a card; signed where the bot has a secret.

The signature is the Base64 of HMAC-SHA256 over nothing, keyed by `<seconds>\\n<secret>`; it stands in the body. An
error comes with HTTP 200 and a code other than 0.
Source: https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot (20 KB a body, 100 messages a minute).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.senders._text import colour, cut
from klinic.diagnostics.alerts.wire import Answer, DeliveryError, Request

SUMMARY = "Feishu or Lark, a custom bot; secret: its signing key"
TAKES = ("url", "secret")
TITLE, TEXT = 200, 16_000  # a body may have 20 KB
BUSY, MALFORMED = 11232, 9499  # the latter is "Bad Request", and "too many request" of old


def request(message: Message, channel: Channel, now: float) -> Request:
    """A card with a coloured header."""
    parts = [f"**Run** {message.run}  {message.place}".strip(), message.story]
    parts += [f"- {item}" for item in message.evidence]
    parts += [message.why] if message.why else []
    if message.prescription:
        parts += ["**Prescription**", *message.prescription]
    text = cut(_plain("\n".join(filter(None, parts))), TEXT)
    card = {
        "config": {"wide_screen_mode": True},
        "header": {
            "title": {"tag": "plain_text", "content": cut(message.title, TITLE)},
            "template": colour(message.severity),
        },
        "elements": [{"tag": "div", "text": {"tag": "lark_md", "content": text}}],
    }
    return Request(channel.url, {**_signature(channel.secret, now), "msg_type": "interactive", "card": card})


def _plain(text: str) -> str:
    """`<at id=all></at>` in a log must not call anybody."""
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _signature(secret: str, now: float) -> dict[str, Any]:
    if not secret:
        return {}
    seconds = str(int(now))
    sign = hmac.new(f"{seconds}\n{secret}".encode(), b"", hashlib.sha256).digest()
    return {"timestamp": seconds, "sign": base64.b64encode(sign).decode()}


def refused(answer: Answer) -> DeliveryError | None:
    """What the body says went wrong."""
    found = answer.json()
    code = found.get("code", found.get("StatusCode", 0))
    if code == 0:
        return None
    said = str(found.get("msg") or found.get("StatusMessage") or "no reason given")
    busy = code == BUSY or (code == MALFORMED and "too many" in said.lower())
    return DeliveryError(f"code {code}: {said}", busy)
