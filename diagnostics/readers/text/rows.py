"""What the readers of rows without verl's metric line share: frames, lines of text, config, progress."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from klinic.diagnostics.readers.text.configscan import ConfigScan
from klinic.diagnostics.readers.text.frames import Frame, Frames, find_bar
from klinic.diagnostics.readers.text.values import decimals, number
from klinic.diagnostics.run.events import Event, Line, ManifestRead, Meta, Row


class RowSession(ABC):
    """Frames in, events out. A format overrides `rows`: the events of a frame, None where it holds no metrics.

    framework: whose rows they are. rounded: numbers are printed with a fixed number of decimals, so that these say how
    exact a number is.
    """

    framework = ""
    rounded = True

    def __init__(self) -> None:
        self._frames = Frames()
        self._config = ConfigScan()
        self._total = 0
        self._told = False

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes."""
        return self._all(self._frames.feed(data))

    def close(self) -> list[Event]:
        """The source has ended."""
        events = self._all(self._frames.close())
        events.extend(self.ended())
        self._config.close()
        return [*events, *self._config.drain()]

    @abstractmethod
    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """Events of one frame, or None where it is none of this format's."""

    def ended(self) -> Iterable[Event]:
        """What was held back."""
        return ()

    def row(self, texts: Mapping[str, str], step: int | None, line: int) -> list[Event]:
        """The row of these numbers as printed, and before the first one whose it is; nothing where none is a number."""
        values = {name: value for name, text in texts.items() if (value := number(text)) is not None}
        shown = {name: decimals(texts[name]) for name in values} if self.rounded else {}
        digits = {name: places for name, places in shown.items() if places is not None}
        return self.told(Row(values, step, decimals=digits, line=line))

    def told(self, row: Row) -> list[Event]:
        """A row, and before the first one whose it is; nothing where it is empty."""
        if not row.values:
            return []
        meta = [] if self._told else [Meta(framework=self.framework)]
        self._told = True
        return [*meta, row]

    def _all(self, frames: list[Frame]) -> list[Event]:
        events: list[Event] = []
        for frame in frames:
            found = self.rows(frame)
            events.extend(self._other(frame) if found is None else found)
        return events

    def _other(self, frame: Frame) -> list[Event]:
        if self._config.take(frame):
            return []
        bar = find_bar(frame.text)
        text = bar.rest if bar else frame.text
        events: list[Event] = [*self._config.drain()]
        if bar and bar.total and bar.what in ("", "train", "Training Progress") and bar.total != self._total:
            self._total = bar.total
            events.append(ManifestRead({"total_steps": bar.total}))
        return [*events, Line(text, frame.line, frame.source)] if text.strip() else events
