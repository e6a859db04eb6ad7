"""torchforge's blocks: `=== [...] - METRICS STEP 1 ===`, then one `  name/of/metric: value` a line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from klinic.diagnostics.readers.base import Format, shows
from klinic.diagnostics.readers.text.blocks import BlockSession
from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.readers.text.values import number
from klinic.diagnostics.run.events import Event

_START = re.compile(r"=+ .*METRICS STEP (\d{1,12})\b.* =+$")
_ITEM = re.compile(r"\s+([\w.@()\-]+(?:/[\w.@()\- ]+)+):\s+(\S+)$")


class StepBlockSession(BlockSession):
    """A rule below the items ends the block."""

    framework = "torchforge"
    unbroken = True

    def begins(self, frame: Frame) -> int | None:
        """The step of a head line."""
        start = _START.search(frame.text) if "METRICS STEP" in frame.text else None
        return int(start[1]) if start else None

    def items(self, frame: Frame) -> Mapping[str, str]:
        """An item."""
        item = _ITEM.match(frame.text)
        return {item[1]: item[2]} if item and number(item[2]) is not None else {}

    def left(self, frame: Frame) -> list[Event]:
        """The rule is no text."""
        if frame.text.strip("= "):
            return super().left(frame)
        self._open = False
        return self.ended()


READER = Format(
    "torchforge",
    "torchforge's METRICS STEP blocks, one metric a line",
    sniff=shows(rb"=+ [^\n]*METRICS STEP \d+\b[^\n]* =+", b"METRICS STEP "),
    open=lambda _: StepBlockSession(),
)
