"""Lines by the place where they stand: kept in order while some come and others go."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from klinic.diagnostics.run.events import Line
from klinic.diagnostics.run.merge import masked_line

Place = tuple[int, int, int]  # part, line, count: the order in which lines stand
FEW = 40  # changes that are made one by one; of more all is put in order anew


class OrderedLines:
    """A line is held as often as it was put, and is shown as long as it is held; secrets are masked."""

    def __init__(self) -> None:
        self._lines: dict[Place, Line] = {}
        self._held: dict[Place, int] = {}
        self._touched: set[Place] = set()  # since the lines were put in order
        self._order: list[Place] = []
        self._shown: list[Line] = []

    def fork(self) -> OrderedLines:
        """A copy that goes its own way from here; both show the same lines."""
        self.lines()
        other = OrderedLines()
        other._lines, other._held = self._lines.copy(), self._held.copy()
        other._order, other._shown = self._order.copy(), self._shown.copy()
        return other

    def put(self, place: Place, line: Line) -> None:
        """Hold a line once more."""
        held = self._held.get(place, 0)
        self._held[place] = held + 1
        if not held:
            self._lines[place] = line
            self._touched.add(place)

    def drop(self, place: Place) -> None:
        """Hold it once less."""
        held = self._held.pop(place) - 1
        if held:
            self._held[place] = held
        else:
            del self._lines[place]
            self._touched.add(place)

    def lines(self) -> list[Line]:
        """The lines in the order in which they stand; not to be changed."""
        if self._touched:
            self._mask(place for place in self._touched if place in self._lines)
            if len(self._touched) > FEW:
                self._order = sorted(self._lines)
                self._shown = list(map(self._lines.__getitem__, self._order))
            else:
                for place in self._touched:
                    self._settle(place)
            self._touched.clear()
        return self._shown

    def _mask(self, places: Iterable[Place]) -> None:
        for place in places:
            self._lines[place] = masked_line(self._lines[place])

    def _settle(self, place: Place) -> None:
        """Show or hide what stands at a place."""
        at = bisect_left(self._order, place)
        if at < len(self._order) and self._order[at] == place:
            del self._order[at], self._shown[at]
        if place in self._lines:
            self._order.insert(at, place)
            self._shown.insert(at, self._lines[place])
