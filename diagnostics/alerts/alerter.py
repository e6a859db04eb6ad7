"""Alerts of everything that is watched: looks in, messages out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from klinic.diagnostics.alerts.channel import Alerts, Channel
from klinic.diagnostics.alerts.courier import Courier, Patience, Receipt
from klinic.diagnostics.alerts.ledger import ledger_of
from klinic.diagnostics.alerts.mask import Mask
from klinic.diagnostics.alerts.message import Message, message
from klinic.diagnostics.alerts.policy import Policy
from klinic.diagnostics.live.look import Look

CLOSE = 10.0  # seconds that the end may take for messages on their way


class Alerter:
    """Sends what `take` gives cause for; it neither waits nor raises.

    receipt: called for every message once it was delivered or given up, from another thread.
    """

    def __init__(
        self,
        settings: Alerts,
        receipt: Callable[[Receipt], None] = lambda _: None,
        patience: Patience | None = None,
    ) -> None:
        self.settings = settings
        self.mask = Mask(settings.secrets)
        self._couriers = {one.name: Courier(one, self.mask, receipt, patience) for one in settings.channels}
        self._policies: dict[tuple[str, str], Policy] = {}

    def take(self, look: Look) -> list[tuple[Channel, Message]]:
        """Look for what is to be told, and send it. Gives what was sent."""
        key = (look.name, str(look.run.manifest.get("id") or ""))
        policy = self._policies.get(key)
        if policy is None:
            policy = self._policies[key] = Policy(self.settings, ledger_of(*key))
        sent = []
        for channel, change in policy.choose(look):
            text = message(change)
            if policy.last(channel):
                text = replace(
                    text, why=f"{text.why} No more alerts of this run: {self.settings.most} were sent.".strip()
                )
            self._couriers[channel.name].take(text)
            sent.append((channel, text.masked(self.mask)))
        return sent

    def send(self, text: Message) -> None:
        """Send a message to every channel, whatever its severity."""
        for courier in self._couriers.values():
            courier.take(text)

    def close(self, seconds: float = CLOSE) -> None:
        """Deliver what is on its way, for at most so long."""
        deadline = time.monotonic() + seconds
        for courier in self._couriers.values():
            courier.close(deadline)
