"""What a log's metric lines have shown so far: keys, which of them stand together, what stands before `step:`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from klinic.diagnostics.readers.fast.jsonshape import Shape
from klinic.diagnostics.readers.text.frames import clean
from klinic.diagnostics.readers.verl.metricline import start_of
from klinic.diagnostics.run.model import NAN

MAX_BEFORES, MAX_PATTERNS = 4000, 256
_ROW = "step:1 - a/b:1"  # of which it is asked whether the slow way takes it for a metric line


@dataclass(frozen=True, eq=False)
class Tables:
    """What a metric line may hold, as both quick ways want it; another one whenever more was learned.

    masks: the sets of keys that came together, a byte 0 or 1 for each name. listed: names, masks, and what may stand
    before `step:`, for the compiled part.
    """

    names: tuple[str, ...]
    masks: frozenset[bytes]
    listed: tuple[bytes, bytes, bytes]


class Known:
    """Learns from lines that were read the slow way; both quick ways ask it."""

    def __init__(self) -> None:
        self.shape = Shape(null=NAN)
        self._patterns: set[frozenset[str]] = set()
        self._plain: dict[bytes, bool] = {}
        self._tables: Tables | None = None

    def learn(self, values: dict[str, float]) -> None:
        """A metric line that was read the slow way."""
        self.shape.learn({"data": values})
        pattern = frozenset(values)
        if pattern not in self._patterns and len(self._patterns) < MAX_PATTERNS:
            self._patterns.add(pattern)
            self._tables = None

    def is_plain(self, before: bytes) -> bool:
        """Whether nothing but prefixes of processes stands before `step:`."""
        if before not in self._plain and len(self._plain) < MAX_BEFORES:
            text = clean(before.decode("utf-8", "replace") + _ROW)[0]
            self._plain[before] = b"\r" not in before and text.strip() == _ROW and start_of(text) is not None
            self._tables = None
        return self._plain.get(before, False)

    @property
    def tables(self) -> Tables:
        """The same object until more is learned: of the names too, which a copy of the session may have learned."""
        names = self.shape.known()
        if self._tables is None or self._tables.names is not names:
            masks = [bytes(name in pattern for name in names) for pattern in self._patterns]
            spelt = "".join(name + "\n" for name in names).encode("utf-8", "surrogatepass")
            befores = listed(before for before, plain in self._plain.items() if plain)
            self._tables = Tables(names, frozenset(masks), (spelt, b"".join(masks), befores))
        return self._tables


def listed(words: Iterable[bytes]) -> bytes:
    """Words as the compiled part wants them, each of them ended by a line feed."""
    return b"".join(word + b"\n" for word in words)
