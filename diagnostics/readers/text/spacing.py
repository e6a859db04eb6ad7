"""Steps of rows that carry none, told by the progress bar beside them.

A row is written every `logging_steps` steps, and often late: standard output is flushed in blocks, the bar on standard
error is not. So rows wait for the next bar; those between two bars share the steps that passed, in even paces.
"""

from __future__ import annotations

from dataclasses import replace

from klinic.diagnostics.run.events import Row


class Spacing:
    """Counts rows, or spreads them over the steps of the bar. done: what the bar showed last, 0 before any."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Row, bool]] = []
        self._step = 0
        self._pace = 0
        self._fresh = False
        self.done = 0

    @property
    def counted(self) -> int:
        """Step of the last row that was let go."""
        return self._step

    def add(self, row: Row, beside: bool) -> list[Row]:
        """Take a row; those that may go on. beside: it tells of the step of the row before it (an evaluation)."""
        self._waiting.append((row, beside))
        return [] if self.done else self.release()

    def bar(self, done: int, total: int) -> list[Row]:
        """Take what a bar shows; the rows that waited for it. A full bar behind a summary is that training's."""
        rows = self.release()
        if done < self.done:
            self.restart()
        if not (self._fresh and done == total):
            self._fresh, self.done = False, done
        return rows

    def release(self) -> list[Row]:
        """The rows that wait, each with its step."""
        count = sum(not beside for _, beside in self._waiting)
        self._pace = self._fitting(count)
        waiting, self._waiting = self._waiting, []
        return [self._placed(row, beside) for row, beside in waiting]

    def restart(self) -> None:
        """The next row is the first of a training."""
        self._fresh = True
        self._step = self._pace = self.done = 0

    def _fitting(self, count: int) -> int:
        """Steps from row to row: as before where that fits, else what the bar leaves room for; 1 where it lags."""
        room = self.done - self._step
        late = room - self._pace * count
        if self._pace and 0 <= late < max(self._pace, count):
            return self._pace
        return max(1, room // count) if count else self._pace

    def _placed(self, row: Row, beside: bool) -> Row:
        self._step += 0 if beside and self._step else self._pace
        return replace(row, step=self._step)
