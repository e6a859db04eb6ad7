"""Any other text: no metrics, but lines that incident cards can judge and the config if it stands there."""

from __future__ import annotations

from klinic.diagnostics.readers._text import looks_like_text
from klinic.diagnostics.readers._verlsession import VerlSession
from klinic.diagnostics.readers.base import Head, Session
from klinic.diagnostics.readers.dictrows import DictRowSession
from klinic.diagnostics.run.events import ConfigRead, Event, Line, Note, Row

class PlainTextSession:
    """Reads lines, and metrics of the two common forms should they come after the head that was sniffed."""

    def __init__(self) -> None:
        self._text = VerlSession(framework="")
        self._dicts = DictRowSession()
        self._verl = False

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes."""
        return self._merge(self._text.feed(data), self._dicts.feed(data))

    def close(self) -> list[Event]:
        """The source has ended."""
        return self._merge(self._text.close(), self._dicts.close())

    def _merge(self, events: list[Event], rows: list[Event]) -> list[Event]:
        self._verl = self._verl or any(isinstance(event, Row) for event in events)
        if self._verl:
            return events
        return [*events, *(event for event in rows if not isinstance(event, Line | ConfigRead | Note))]


class PlainTextReader:
    """See the module."""

    name = "text"
    summary = "any text log without metrics that another reader knows: errors, tracebacks and config in it are judged"

    def sniff(self, head: Head) -> float:
        """The last resort for text."""
        return 0.05 if looks_like_text(head.data) else 0.0

    def open(self, head: Head) -> Session:
        """Start reading."""
        return PlainTextSession()


READER = PlainTextReader()
