"""Which news becomes a message to which channel: once a subject, after a warm-up, again only after it cleared."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from klinic.diagnostics.alerts.channel import Alerts, Channel
from klinic.diagnostics.alerts.ledger import Ledger
from klinic.diagnostics.engine.model import Finding, Severity
from klinic.diagnostics.live.changes import Change
from klinic.diagnostics.live.look import ENDED, Look

STALL = "stall"


class Policy:
    """Decides for one run. `choose` is called with every look; nothing is told twice."""

    def __init__(self, settings: Alerts, ledger: Ledger) -> None:
        self.settings, self.ledger = settings, ledger

    def choose(self, look: Look) -> list[tuple[Channel, Change]]:
        """Messages to send now; whoever calls sends each of them."""
        self.ledger.refresh()
        chosen = []
        changed = self._rearm(look)
        for channel in self.settings.channels:
            for subject, change in self._candidates(look, channel):
                if self._again(channel, subject, look.seen):
                    changed = True
                    if self._within(channel):
                        chosen.append((channel, change))
                    self.ledger.told(channel.name, subject, look.seen)
        if changed:
            self.ledger.save()
        return chosen

    def last(self, channel: Channel) -> bool:
        """Whether the message just chosen was the last one that this channel gets."""
        return self.ledger.counts.get(channel.name, 0) >= self.settings.most

    def _within(self, channel: Channel) -> bool:
        return self.ledger.counts.get(channel.name, 0) < self.settings.most

    def _again(self, channel: Channel, subject: str, now: float) -> bool:
        entry = self.ledger.entry(channel.name, subject)
        if entry is None or not entry.armed:
            return entry is None
        return not 0 <= now - entry.at < self.settings.cooldown  # told in the future: the clock was set back

    def _rearm(self, look: Look) -> bool:
        """What was told and holds no longer may be told again; an incident and an end are told for good."""
        changed = False
        for channel in self.settings.channels:
            loud = {one.id for one in look.findings(channel.severity)}
            for subject in self.ledger.subjects(channel.name):
                gone = subject not in loud and ":" not in subject
                if gone and (subject != STALL or look.state not in ("stalled", *ENDED)):
                    changed |= self.ledger.arm(channel.name, subject)
        return changed

    def _candidates(self, look: Look, channel: Channel) -> Iterator[tuple[str, Change]]:
        tell = self.settings.tell
        if "finding" in tell and look.rows >= self.settings.warm_up:
            yield from ((one.id, Change("found", look, finding=one)) for one in self._roots(look, channel))
        if "incident" in tell:
            for incident in look.diagnosis.incidents if look.diagnosis else ():
                if incident.severity >= channel.severity and not self._ignored(incident.id, incident.name):
                    yield f"{incident.id}:{incident.line}", Change("incident", look, incident=incident)
        if "stall" in tell and look.state == "stalled" and channel.severity <= Severity.WARN:
            yield STALL, Change("stalled", look)
        if "end" in tell and look.state in ENDED:
            yield from self._end(look, channel)

    def _end(self, look: Look, channel: Channel) -> Iterator[tuple[str, Change]]:
        """A run that failed is told as an error; that one is finished, to channels that take info."""
        change = Change("ended", look)
        if change.severity >= channel.severity or (look.state == "stopped" and channel.severity <= Severity.WARN):
            yield f"end:{len(look.run.attempts)}:{look.state}", change

    def _roots(self, look: Look, channel: Channel) -> Iterator[Finding]:
        """Findings to tell; one that follows from another that this channel is told of stands in the story of that."""
        loud = [one for one in look.findings(channel.severity) if not self._ignored(one.id, one.name)]
        names = {one.id for one in loud}
        told = {one.root_cause for one in loud if one.root_cause and self.ledger.entry(channel.name, one.root_cause)}
        return (one for one in loud if one.root_cause not in names | told)

    def _ignored(self, rule: str, name: str) -> bool:
        patterns = self.settings.ignore
        return any(fnmatchcase(word.lower(), pattern.lower()) for pattern in patterns for word in (rule, name))
