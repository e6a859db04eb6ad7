"""Metrics in the postfix of a progress bar, as ART prints them: `1/4 [00:12<00:38, loss=0.57, entropy=0.38]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.text.frames import Bar, Frame, find_bar, head_frames
from klinic.diagnostics.readers.text.rows import RowSession
from klinic.diagnostics.readers.text.values import number
from klinic.diagnostics.run.events import Event, Line, Row

_PAIR = re.compile(r"(?:^|,\s*)([A-Za-z_][\w/.\-]*)=([^,\s\]]+)")
_RL = re.compile(r"policy_loss|pg_?loss|entropy|reward|\bkl|returns?|advantage")


def postfix(bar: Bar | None) -> dict[str, float]:
    """Numbers in a bar's postfix, {} where it has none of RL."""
    if bar is None or "=" not in bar.postfix or not _RL.search(bar.postfix):
        return {}
    return {key: value for key, raw in _PAIR.findall(bar.postfix) if (value := number(raw)) is not None}


class ArtBarSession(RowSession):
    """Bars start anew with every batch, so rows are counted; a bar that is drawn again gives no second row."""

    framework = "art"

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[str, int | None, dict[str, float]] | None = None

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """A bar with metrics, or None."""
        bar = find_bar(frame.text)
        values = postfix(bar)
        if bar is None or not values:
            return None
        rest = [Line(bar.rest, frame.line, frame.source)] if bar.rest else []
        seen = (bar.what, bar.done, values)
        if seen == self._last:
            return rest
        self._last = seen
        return [*self.told(Row(values, line=frame.line)), *rest]


def _sniff(head: Head) -> float:
    """Likely with one bar that carries a policy's numbers."""
    if b"%|" not in head.data or b"=" not in head.data:
        return 0.0
    return 0.55 if any(postfix(find_bar(frame.text)) for frame in head_frames(head.data)) else 0.0


READER = Format(
    "progress-bar",
    "metrics in the postfix of progress bars, as ART prints them",
    sniff=_sniff,
    open=lambda _: ArtBarSession(),
)
