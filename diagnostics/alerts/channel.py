"""A place that alerts go to, as one file of settings describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from klinic.diagnostics.engine.model import Severity


@dataclass(frozen=True)
class Channel:
    """kind: a sender's name. url, secret and the values of `headers` come from the environment and are never shown.

    severity: the least that is sent here. run: a command and its arguments. to, author: addresses of an e-mail.
    """

    kind: str
    name: str
    severity: Severity
    url: str = ""
    secret: str = ""
    run: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    to: tuple[str, ...] = ()
    author: str = ""
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alerts:
    """What is told to whom, and how often.

    warm_up: steps at the beginning of a run in which findings are not told yet. cooldown: seconds before the same
    finding is told again after it cleared. most: messages a run and channel. tell: kinds of news. ignore: rules, by id
    or name.
    """

    channels: tuple[Channel, ...]
    warm_up: int = 3
    cooldown: float = 1800.0
    most: int = 20
    tell: tuple[str, ...] = ("finding", "incident", "stall", "end")
    ignore: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every value that must not be shown."""
        return tuple(value for channel in self.channels for value in channel.secrets)
