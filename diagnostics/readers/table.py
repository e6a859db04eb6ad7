"""Tables as text with a Step column: Markdown, box-drawing or tab-separated, as notebooks and trainers print them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.text.frames import Frame, head_frames
from klinic.diagnostics.readers.text.rows import RowSession
from klinic.diagnostics.readers.text.values import number
from klinic.diagnostics.run.events import Event, Row

_BARS = "|│┃║"
_RULE = re.compile(r"[\s|│┃║:\-─━═+┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┡┩╇╞╡╪]+")
_STEP = re.compile(r"(?:global[ _])?step", re.IGNORECASE)
_TRL = re.compile(r"training loss|reward_std|rewards? ?/|completion", re.IGNORECASE)


def cells(text: str) -> list[str]:
    """The cells of a table's line, [] where it is none: three or more between bars or tabs."""
    bar = next((letter for letter in _BARS if letter in text), "\t" if "\t" in text else "")
    if not bar:
        return []
    parts = text.strip().strip(_BARS if bar != "\t" else " ")
    for other in _BARS if bar != "\t" else "":
        parts = parts.replace(other, bar)
    found = [cell.strip().strip("*`").strip() for cell in parts.split(bar)]
    return found if len(found) >= 3 else []


def is_head(found: list[str]) -> bool:
    """Whether these cells name columns, the first of them the step."""
    return bool(found) and bool(_STEP.fullmatch(found[0])) and all(number(cell) is None for cell in found)


class TableSession(RowSession):
    """Rows below a head line; `No Log` and empty cells are no values."""

    rounded = False

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """A line of a table, or None."""
        found = cells(frame.text)
        if is_head(found):
            self._names = found
            self.framework = "trl" if any(map(_TRL.search, found)) else ""
            return ()
        if not self._names:
            return None
        if _RULE.fullmatch(frame.text):
            return ()
        step = number(found[0].replace(",", "")) if found else None
        if step is None or len(found) > len(self._names) or not abs(step) < 1e12:
            self._names = self._names if frame.text[:1] in _BARS else []
            return None
        texts = {name: cell for name, cell in zip(self._names[1:], found[1:], strict=False) if name}
        return self.row(texts, int(step), frame.line)


def _sniff(head: Head) -> float:
    """Likely with a head line and a row of numbers below it."""
    if b"step" not in head.data.lower():
        return 0.0
    session = TableSession()
    for frame in head_frames(head.data)[:5000]:
        found = session.rows(frame) if frame.text else None
        if any(isinstance(event, Row) for event in found or ()):
            return 0.45
    return 0.0


READER = Format(
    "table",
    "a table in text (Markdown, box-drawing, tabs) whose first column is the step",
    sniff=_sniff,
    open=lambda _: TableSession(),
)
