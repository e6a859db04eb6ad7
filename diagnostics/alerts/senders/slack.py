"""Slack: incoming webhooks with Block Kit; the answer is `ok` or a word that says why not.

Source: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, /messaging/formatting-message-text
(what is escaped), /reference/block-kit/blocks/header-block and section-block (150 and 3000 characters).
"""

from __future__ import annotations

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.senders._text import cut
from klinic.diagnostics.alerts.wire import Request

SUMMARY = "Slack, an incoming webhook"
TAKES = ("url",)
TITLE, SECTION = 150, 2900  # a header holds 150 characters, a section 3000


def request(message: Message, channel: Channel, now: float) -> Request:
    """A header, the story with its evidence, the prescription; `text` is what a notification shows."""
    body = [f"*Run* `{_plain(message.run)}`  {_plain(message.place)}".strip(), _plain(message.story)]
    body += [f"• {_plain(item)}" for item in message.evidence]
    body += [_plain(message.why)] if message.why else []
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": cut(message.title, TITLE)}},
        _section("\n".join(filter(None, body))),
    ]
    if message.prescription:
        code = cut(_plain("\n".join(message.prescription)), SECTION - 30)
        blocks.append(_section(f"*Prescription*\n```{code}```"))
    return Request(channel.url, {"text": _plain(cut(message.title, SECTION)), "blocks": blocks})


def _section(text: str) -> dict[str, object]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": cut(text, SECTION)}}


def _plain(text: str) -> str:
    """Slack reads `&`, `<` and `>` as markup; `<!channel>` in a log must not call anybody."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
