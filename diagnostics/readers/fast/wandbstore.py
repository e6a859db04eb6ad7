"""History records of a W&B store as the compiled part reads them: those whose items are known keys with numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from klinic.diagnostics.readers.fast import extension
from klinic.diagnostics.readers.records.jsonrows import NOT_METRICS, STEP_KEYS, TIME_KEYS
from klinic.diagnostics.readers.records.leveldb import Records
from klinic.diagnostics.run.events import Block

if TYPE_CHECKING:
    import numpy as np

ROWS = 512  # read at once
MANY = 64 * 1024  # fewer bytes are not worth it
MAX_NAMES = 4096
REFUSED = 32  # refusals in a row after which it is left for good
EXACT = 2.0**53  # whole numbers below are the same as doubles
DROPPED = frozenset({*TIME_KEYS, *NOT_METRICS, "step", "_step"})


class Items:
    """The keys that were seen with numbers; it learns from records that were read the slow way."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._refused = 0

    def learn(self, record: Mapping[str, Any]) -> None:
        """Look at a history record that was read the slow way."""
        fresh = record.keys() - self._names.keys()
        if fresh and len(self._names) + len(fresh) <= MAX_NAMES:
            numbers = (key for key, value in record.items() if type(value) in (float, int) and "\n" not in key)
            self._names.update(dict.fromkeys(numbers))

    def rows(self, records: Records, count: int) -> Block | None:
        """Rows of the records that come next, as far as all is as expected; `count` records were read before."""
        native = extension.module()
        small = len(records.buffer) - records.at < MANY
        if native is None or small or not self._names or self._refused >= REFUSED or not records.whole():
            return None
        found = Found(native, records, tuple(self._names))
        block = found.block(count)
        self._refused = 0 if block else self._refused + 1
        if block is not None:
            records.jump(found.end(block) - records.at)
        return block


class Found:
    """Rows as they were found, before it is told what is step, time and metric."""

    def __init__(self, native: Any, records: Records, names: tuple[str, ...]) -> None:
        import numpy as np

        self._names = names
        values, marks = np.empty((ROWS, len(names))), np.empty((ROWS, len(names)), np.uint8)
        self._ends, self._counts = np.empty(ROWS, np.int64), np.empty(ROWS, np.int64)
        words = "".join(name + "\n" for name in names).encode("utf-8", "surrogatepass")
        room = values, marks, self._ends, self._counts
        rows, self._odd = native.history(records.buffer, records.at, records.offset, words, *room)
        self._values, self._marks = values[:rows], marks[:rows]

    def end(self, block: Block) -> int:
        """Where the record of its last row ends."""
        return int(self._ends[len(block.steps) - 1])

    def block(self, count: int) -> Block | None:
        """The first rows that have a step, a metric, and plain numbers for step and time."""
        import numpy as np

        steps, times = self._first(STEP_KEYS, whole=True), self._first(TIME_KEYS)
        metrics = [place for place, name in enumerate(self._names) if name not in DROPPED]
        marks = self._marks[:, metrics]
        good = (steps == steps) & (abs(steps) < EXACT) & (marks != 0).any(axis=1) & self._plain()
        rows = len(good) if good.all() else int(np.argmin(good))
        if not rows:
            return None
        places = zip(*(axis.tolist() for axis in np.nonzero(marks[:rows] > 1)), strict=True) if self._odd else ()
        return Block(
            tuple(self._names[place] for place in metrics),
            steps[:rows].astype(np.int64),
            self._values[:rows, metrics],
            None if np.isnan(times[:rows]).all() else times[:rows],
            {(at, place): int(marks[at, place]) - 1 for at, place in places},
            count + int(self._counts[rows - 1]),
        )

    def _first(self, keys: tuple[str, ...], *, whole: bool = False) -> np.ndarray:
        """Of each row the first of these keys that it has, NaN where it has none. whole: others do not count."""
        import numpy as np

        found = np.full(len(self._values), np.nan)
        for place in self._places(keys):
            values = self._values[:, place]
            fits = np.isnan(found) & (values == np.floor(values)) if whole else np.isnan(found)
            found[fits] = values[fits]
        return found

    def _plain(self) -> np.ndarray:
        """Whether none of the keys of step and time has a value that is not finite, or too large to be exact."""
        import numpy as np

        places = self._places((*STEP_KEYS, *TIME_KEYS))
        exact = (self._marks[:, places] < 2) & ~(np.abs(self._values[:, places]) >= EXACT)
        return np.asarray(exact.all(axis=1))

    def _places(self, keys: tuple[str, ...]) -> list[int]:
        return [self._names.index(key) for key in keys if key in self._names]
