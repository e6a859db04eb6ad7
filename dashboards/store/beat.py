"""When a path is looked at again: each round while it changes, more and more rarely the longer it has been still."""

from __future__ import annotations

from collections.abc import Hashable

QUIET = 60.0  # seconds without a change until which a path is looked at each round
PART = 30.0  # then it is looked at again after a thirtieth of the time that it has been still
RAREST = 10.0  # seconds between two looks at most


class Beat:
    """Keeps what is due; times are seconds since the epoch."""

    def __init__(self) -> None:
        self._due: dict[Hashable, float] = {}

    def due(self, key: Hashable, now: float) -> bool:
        """Whether a path is to be looked at in this round; one that never was is."""
        return self._due.get(key, 0.0) <= now

    def looked(self, key: Hashable, now: float, changed: float) -> None:
        """It was looked at, and last changed at some time."""
        still = now - changed
        if still <= QUIET:
            self._due.pop(key, None)
        else:
            self._due[key] = now + min(still / PART, RAREST)

    def hurry(self, key: Hashable) -> None:
        """Somebody looks at it: it is due in the next round."""
        self._due.pop(key, None)

    def keep(self, keys: set[Hashable]) -> None:
        """Forget all others."""
        for key in self._due.keys() - keys:
            self._due.pop(key, None)
