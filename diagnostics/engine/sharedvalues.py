"""Values one after the other that forks share: a run that is judged again and again keeps its curves once."""

from __future__ import annotations

import numpy as np

from klinic.diagnostics.engine.curves import Floats

FIRST = 64  # values for which there is room at the beginning


class Track:
    """A row of values that grows at its end. None of those in it is changed, so that forks may share them."""

    def __init__(self) -> None:
        self._room: Floats = np.empty(FIRST)
        self._used = [0]  # how far the room is filled, by whoever shares it
        self._length = 0

    @property
    def values(self) -> Floats:
        """All of them; not to be written to."""
        return self._room[: self._length]

    def add(self, values: Floats) -> None:
        """Put values at the end; where another fork went on already, or the room is full, in room of its own."""
        end = self._length + len(values)
        if self._used[0] != self._length or end > len(self._room):
            room = np.empty(max(2 * end, FIRST))
            room[: self._length] = self.values
            self._room, self._used = room, [0]
        self._room[self._length : end] = values
        self._length = self._used[0] = end

    def fork(self) -> Track:
        """One that goes its own way from here."""
        other = Track.__new__(Track)
        other._room, other._used, other._length = self._room, self._used, self._length
        return other
