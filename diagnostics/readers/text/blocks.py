"""What readers of blocks share: a line that names the step, then lines that each hold metrics of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping

from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.readers.text.rows import RowSession
from klinic.diagnostics.run.events import Event


class BlockSession(RowSession):
    """Collects the metrics of a block until the next one begins. A format overrides `begins` and `items`.

    unbroken: no other line stands within a block, the first one ends it.
    """

    unbroken = False

    def __init__(self) -> None:
        super().__init__()
        self._open = False
        self._step: int | None = None
        self._texts: dict[str, str] = {}
        self._line = 0

    @abstractmethod
    def begins(self, frame: Frame) -> int | None:
        """The step of the block that begins with this line, or None."""

    @abstractmethod
    def items(self, frame: Frame) -> Mapping[str, str]:
        """Name -> number as printed of what a line of the block holds; empty where it holds no metric."""

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """A block's first line, one of its lines, or None."""
        step = self.begins(frame)
        if step is not None:
            return self.begin(step, frame.line)
        found = self.items(frame) if self._open else {}
        if not found:
            return self.left(frame) if self.unbroken and self._open else None
        self._texts.update(found)
        return ()

    def left(self, frame: Frame) -> list[Event]:
        """A line that is none of the block ends it."""
        self._open = False
        return [*self.ended(), *self._other(frame)]

    def begin(self, step: int | None, line: int) -> list[Event]:
        """Begin a block (step None: not known, rows are counted); what the one before held."""
        done = self.ended()
        self._open, self._step, self._line = True, step, line
        return done

    def ended(self) -> list[Event]:
        """The block at hand."""
        texts, self._texts = self._texts, {}
        return self.row(texts, self._step, self._line)
