"""Any other text: no metrics, but lines that incident cards can judge and the config if it stands there."""

from __future__ import annotations

from klinic.diagnostics.readers._text import Frame, looks_like_text
from klinic.diagnostics.readers._verlsession import VerlSession
from klinic.diagnostics.readers.base import Head, Session
from klinic.diagnostics.readers.dictrows import DictRowSession
from klinic.diagnostics.run.events import Event


class PlainTextSession(VerlSession):
    """Reads lines, and metrics of the two common forms should they come after the head that was sniffed."""

    def __init__(self) -> None:
        super().__init__(framework="")
        self._dicts = DictRowSession()
        self._bulk = None  # rows of other frameworks may stand on any line

    def _other(self, frame: Frame) -> None:
        found = None if self._rl_rows else self._dicts.rows(frame)
        if found is None:
            super()._other(frame)
        else:
            self._events.extend(found)

    def close(self) -> list[Event]:
        """The source has ended."""
        events = super().close()
        return [*events, *self._dicts.ended()]


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
