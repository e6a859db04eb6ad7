"""torchforge's blocks: `=== [...] - METRICS STEP 1 ===`, then one `  name/of/metric: value` a line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from klinic.diagnostics.readers._rows import RowSession
from klinic.diagnostics.readers._text import Frame
from klinic.diagnostics.readers._values import number
from klinic.diagnostics.readers.base import Head, Session
from klinic.diagnostics.run.events import Event, Meta, Row

_START = re.compile(r"=+ .*METRICS STEP (\d{1,12})\b.* =+$")
_ITEM = re.compile(r"\s+([\w.@()\-]+(?:/[\w.@()\- ]+)+):\s+(\S+)$")


class StepBlockSession(RowSession):
    """Collects the items of a block until a line that is none."""

    def __init__(self) -> None:
        super().__init__()
        self._step: int | None = None
        self._values: dict[str, float] = {}
        self._line = 0
        self._told = False

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """A head line, an item, or None."""
        item = _ITEM.match(frame.text) if self._step is not None else None
        value = number(item[2]) if item else None
        if item and value is not None:
            self._values[item[1]] = value
            return ()
        done = self.ended()
        start = _START.search(frame.text) if "METRICS STEP" in frame.text else None
        if start:
            self._step, self._line = int(start[1]), frame.line
            return done
        if (done or self._step is not None) and not frame.text.strip("= "):
            return done
        return [*done, *self._other(frame)] if done else None

    def ended(self) -> list[Event]:
        """The block at hand."""
        values, self._values = self._values, {}
        if not values:
            return []
        meta = [] if self._told else [Meta(framework="torchforge")]
        self._told, step, self._step = True, self._step, None
        return [*meta, Row(values, step, line=self._line)]


class StepBlockReader:
    """See the module."""

    name = "torchforge"
    summary = "torchforge's METRICS STEP blocks, one metric a line"

    def sniff(self, head: Head) -> float:
        """Certain with a head line."""
        found = re.search(rb"=+ [^\n]*METRICS STEP \d+\b[^\n]* =+", head.data)
        return 0.9 if found else 0.0

    def open(self, head: Head) -> Session:
        """Start reading."""
        return StepBlockSession()


READER = StepBlockReader()
