"""What a log's metric lines have shown so far: keys, which of them stand together, what stands before `step:`."""

from __future__ import annotations

from functools import cached_property

from klinic.diagnostics.readers._fastjson import Shape
from klinic.diagnostics.readers._text import clean
from klinic.diagnostics.run.model import NAN

MAX_BEFORES, MAX_PATTERNS = 4000, 256


class Known:
    """Learns from lines that were read the slow way; both quick ways ask it."""

    def __init__(self) -> None:
        self.shape = Shape(null=NAN)
        self._patterns: set[frozenset[str]] = set()
        self._plain: dict[bytes, bool] = {}

    def learn(self, values: dict[str, float]) -> None:
        """A metric line that was read the slow way."""
        self.shape.learn({"data": values})
        pattern = frozenset(values)
        if pattern not in self._patterns and len(self._patterns) < MAX_PATTERNS:
            self._patterns.add(pattern)
            self.__dict__.pop("masks", None)

    @cached_property
    def masks(self) -> frozenset[bytes]:
        """The sets of keys that came together: a byte 0 or 1 for each name of the shape."""
        names = self.shape.known()
        return frozenset(bytes(name in pattern for name in names) for pattern in self._patterns)

    def is_plain(self, before: bytes) -> bool:
        """Whether nothing but prefixes of processes stands before `step:`."""
        if before not in self._plain and len(self._plain) < MAX_BEFORES:
            self._plain[before] = b"\r" not in before and not clean(before.decode("utf-8", "replace"))[0]
        return self._plain.get(before, False)

    def plain(self) -> list[bytes]:
        """What may stand before `step:`, as far as it was asked for."""
        return [before for before, plain in self._plain.items() if plain]
