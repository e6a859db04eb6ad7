"""A summary of a run in words: `name/of/metric: 0.5` a line, or `name: mean=0.8 min=0.1 max=1`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.text.frames import Frame, head_frames
from klinic.diagnostics.readers.text.rows import RowSession
from klinic.diagnostics.readers.text.values import number
from klinic.diagnostics.run.events import Event, Row

_KEY = r"(?:[-*]\s+)?(?P<key>_\w+|[\w.@()\-]+(?:/[\w.@()\-]+)+)"
_PLAIN = re.compile(rf"{_KEY}:\s+(?P<value>\S+)$")
_SPREAD = re.compile(rf"{_KEY}:\s+mean=(?P<mean>\S+)\s+min=(?P<min>\S+)\s+max=(?P<max>\S+)$")
_VERL = re.compile(r"(?:actor|critic|response_length|training|timing_s|rollout_corr)/")
_HIDDEN = ("_runtime", "_timestamp", "_wandb")


def item(text: str) -> dict[str, float]:
    """The values of one line, {} where it is none of this format; a spread keeps its mean under the bare name."""
    spread = _SPREAD.match(text)
    if spread:
        parts = {"": spread["mean"], " (min)": spread["min"], " (max)": spread["max"]}
        return {spread["key"] + end: value for end, raw in parts.items() if (value := number(raw)) is not None}
    plain = _PLAIN.match(text)
    value = number(plain["value"]) if plain else None
    return {plain["key"]: value} if plain and value is not None else {}


class SummarySession(RowSession):
    """One row for the whole text; a further `_step` or a repeated name opens the next row."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, float] = {}
        self._line = 0

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """A line of the summary, or None."""
        found = item(frame.text) if ":" in frame.text else {}
        if not found:
            return None
        done = self.ended() if any(name in self._values for name in found) else []
        self._line = self._line if self._values else frame.line
        self._values.update(found)
        return done

    def ended(self) -> list[Event]:
        """The row at hand."""
        values, self._values = self._values, {}
        step = values.pop("_step", None)
        values = {name: value for name, value in values.items() if name not in _HIDDEN}
        self.framework = "verl" if any(map(_VERL.match, values)) else ""
        whole = int(step) if step is not None and abs(step) < 1e12 else None
        return self.told(Row(values, whole, line=self._line))


def _sniff(head: Head) -> float:
    """Sure where nearly every line is an item and three of them are metrics."""
    if head.data.count(b": ") < 3:
        return 0.0
    texts = [frame.text for frame in head_frames(head.data)[:2000] if frame.text.strip()]
    found = [item(text) for text in texts]
    metrics = sum(any("/" in name for name in values) for values in found)
    return 0.6 if metrics >= 3 and sum(map(bool, found)) >= 0.8 * len(texts) else 0.0


READER = Format(
    "summary",
    "a run's summary as text: `name: value` or `name: mean=.. min=.. max=..` a line",
    sniff=_sniff,
    open=lambda _: SummarySession(),
)
