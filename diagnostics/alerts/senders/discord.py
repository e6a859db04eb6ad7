"""Discord: a webhook with one embed; nobody is called by what stands in a log.

Source: https://docs.discord.com/developers/resources/webhook (execute) and .../resources/message#embed-limits: 256
characters of title, 4096 of description, 1024 of a field's value, 6000 in all.
"""

from __future__ import annotations

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.senders._text import cut
from klinic.diagnostics.alerts.wire import Request

SUMMARY = "Discord, a channel's webhook"
TAKES = ("url",)
COLOURS = {"error": 0xD92D20, "warn": 0xF79009}
TITLE, TEXT, FIELD = 250, 2600, 1000  # with three fields and their names below 6000


def request(message: Message, channel: Channel, now: float) -> Request:
    """An embed: title, story, fields for evidence and prescription."""
    fields = [("Run", f"{message.run}\n{message.place}".strip())]
    fields += [("Evidence", "\n".join(f"- {item}" for item in message.evidence))] if message.evidence else []
    if message.prescription:
        fields.append(("Prescription", "```\n" + cut("\n".join(message.prescription), FIELD - 10) + "\n```"))
    embed = {
        "title": cut(message.title, TITLE),
        "description": cut("\n".join(filter(None, (message.story, message.why))), TEXT),
        "color": COLOURS.get(str(message.severity), 0x2E90FA),
        "fields": [{"name": name, "value": cut(value, FIELD)} for name, value in fields],
    }
    return Request(channel.url, {"username": "klinic", "embeds": [embed], "allowed_mentions": {"parse": []}})
