"""Lines of verl's file logger as the compiled part reads them: those whose data are numbers or nulls of known keys."""

from __future__ import annotations

from typing import Any

from klinic.diagnostics.readers.fast import extension
from klinic.diagnostics.run.events import Block

CELLS = 1 << 20  # numbers at once: 9 MB
PAYS, REFUSED = 8, 32  # rows to a refused line, below which it is left for good; the first refusals do not count


class Worth:
    """Whether the compiled part saves time: each line that it refuses costs some."""

    def __init__(self) -> None:
        self._rows = self._refusals = 0

    def __bool__(self) -> bool:
        return extension.module() is not None and self._refusals <= REFUSED + self._rows // PAYS

    def count(self, rows: int) -> None:
        """So many rows stood before a line that was refused, or the end."""
        self._rows += rows
        self._refusals += 1


class Stretch:
    """Whole lines being read. at: where the next one begins. done: whether there is none."""

    def __init__(self, text: bytes) -> None:
        self._text, self.at = text, 0
        self._room: Room | None = None

    @property
    def done(self) -> bool:
        """Whether no line is left."""
        return self.at == len(self._text)

    def line(self) -> bytes:
        """The next line, without its end; it is passed."""
        end = self._text.index(b"\n", self.at)
        line, self.at = self._text[self.at : end], end + 1
        return line

    def lines(self) -> list[bytes]:
        """All lines from the next one on."""
        lines, self.at = self._text[self.at : -1].split(b"\n"), len(self._text)
        return lines

    def rows(self, names: tuple[str, ...], line: int) -> Block | None:
        """Rows of the lines from the next one on, until one is not as expected. line: number of the one before."""
        if self._room is None or self._room.names is not names or not self._room.left:
            count = self._text.count(b"\n", self.at)
            self._room = Room(min(count, max(CELLS // len(names), 1)), names)
        block, self.at = self._room.read(self._text, self.at, line)
        return block


class Room:
    """Room for rows of these metrics. left: for how many."""

    def __init__(self, rows: int, names: tuple[str, ...]) -> None:
        import numpy as np

        self.names, self.left = names, rows
        self._words = "".join(name + "\n" for name in names).encode()
        self._steps, self._times = np.empty(rows, np.int64), np.empty(rows)
        self._values, self._marks = np.empty((rows, len(names))), np.empty((rows, len(names)), np.uint8)

    def read(self, text: bytes, at: int, line: int) -> tuple[Block | None, int]:
        """The rows from a place of the text on, and the place after them."""
        room: list[Any] = [one[-self.left :] for one in (self._steps, self._times, self._values, self._marks)]
        count, at, odd = extension.module().json(text, at, self._words, *room)
        self.left -= count
        steps, times, values, marks = (one[:count] for one in room)
        return (self._block(steps, times, values, marks, odd, line + count) if count else None), at

    def _block(self, steps: Any, times: Any, values: Any, marks: Any, odd: bool, line: int) -> Block:
        import numpy as np

        places = zip(*(axis.tolist() for axis in np.nonzero(marks > 1)), strict=True) if odd else ()
        codes = {(row, place): int(marks[row, place]) - 1 for row, place in places}
        return Block(self.names, steps, values, None if np.isnan(times).all() else times, codes, line)
