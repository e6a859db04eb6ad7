"""Any other text: no metrics, but lines that incident cards can judge and the config if it stands there."""

from __future__ import annotations

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.dictrows import DictRowSession
from klinic.diagnostics.readers.text import otherfiles
from klinic.diagnostics.readers.text.frames import Frame, looks_like_text
from klinic.diagnostics.readers.text.frameworks import framework_in
from klinic.diagnostics.readers.verl.consolesession import VerlSession
from klinic.diagnostics.run.events import Event, Meta, Note, Row


class PlainTextSession(VerlSession):
    """Reads lines, and metrics of the two common forms should they come after the head that was sniffed."""

    def __init__(self, head: bytes = b"") -> None:
        super().__init__(framework="")
        self._otherfile, self._dict_rows = otherfiles.text(head), False
        self._dicts, self._package = DictRowSession(), ""
        self._bulk = None  # rows of other frameworks may stand on any line

    def _other(self, frame: Frame) -> None:
        self._look_for_a_package(frame)
        found = None if self._rl_rows else self._dicts.rows(frame)
        if found is None:
            super()._other(frame)
        else:
            found = list(found)
            self._dict_rows = self._dict_rows or any(isinstance(event, Row) for event in found)
            self._events.extend(found)

    def _look_for_a_package(self, frame: Frame) -> None:
        """What a traceback names counts until rows tell more surely who wrote them."""
        if not (self._package or self._rl_rows or self._dict_rows):
            self._package = framework_in(frame.source) or framework_in(frame.text)
            self._events.extend([Meta(framework=self._package)] if self._package else [])

    def close(self) -> list[Event]:
        """The source has ended."""
        events = [*super().close(), *self._dicts.ended()]
        if self._otherfile[0] and not (self._rl_rows or self._dict_rows):
            events.append(Note(f"this looks like {self._otherfile[0]}; {self._otherfile[1]}"))
        return events


def _sniff(head: Head) -> float:
    """The last resort for text."""
    return 0.05 if looks_like_text(head.data) else 0.0


READER = Format(
    "text",
    "any text log without metrics that another reader knows: errors, tracebacks and config in it are judged",
    sniff=_sniff,
    open=lambda head: PlainTextSession(head.data),
)
