"""The quick way through verl's JSON lines: the keys of the lines before make a decoder that checks every line.

A line with another key, a text, a nested object or a number beyond a float's range is refused and goes the slow
way, from which the decoder learns; what it decodes means exactly what the slow way would have read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from klinic.diagnostics.run.events import Block, Event
from klinic.diagnostics.run.model import SWALLOWED

MAX_NAMES, MAX_TEACHINGS = 4096, 64
REFUSED = 32  # refusals in a row after which the quick way is left for good
_UNUSUAL = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')  # in a key: such a line always goes the slow way
TOP = frozenset({"step", "time", "data"})


class Shape:
    """The keys seen so far, and the decoder that they make. Shared, not copied: it only ever learns.

    null: the code of a JSON null in this format (`run.model`).
    """

    def __init__(self, null: int = SWALLOWED) -> None:
        self.names: tuple[str, ...] = ()
        self._null = null
        self._known: dict[str, None] = {}
        self._decode: Callable[[bytes], Any] | None = None
        self._teachings = 0
        self._refused = 0

    def __deepcopy__(self, _: dict[int, Any]) -> Shape:
        return self

    def learn(self, record: Any) -> None:
        """Look at a line that was read the slow way."""
        data = record.get("data") if isinstance(record, dict) else None
        if not isinstance(data, dict) or not record.keys() <= TOP or self._teachings >= MAX_TEACHINGS:
            return
        if data.keys() <= self._known.keys() or len(self._known) + len(data) > MAX_NAMES:
            return
        if any(map(_UNUSUAL.search, data)):
            return
        if all(value is None or type(value) in (float, int) for value in data.values()):
            self._teachings += 1
            self._known.update(dict.fromkeys(data))
            self._decode = None

    def decode(self, line: bytes) -> Any:
        """The line's record, or None where it is not as expected."""
        if self._decode is None:
            self._decode = _decoder(self.known())
        try:
            return self._decode(line)
        except ValueError:
            self._refused += 1
            return None

    def known(self) -> tuple[str, ...]:
        """The keys seen so far, in order."""
        if len(self.names) != len(self._known):
            self.names = tuple(self._known)
        return self.names

    def count(self, rows: int) -> None:
        """Another decoder of these keys read so many rows before it refused one, or came to the end."""
        self._refused = 0 if rows else self._refused + 1

    def usable(self) -> bool:
        """Whether a line may be tried."""
        return bool(self._known) and self._refused < REFUSED

    def block(self, records: Sequence[Any], line: int) -> Block | None:
        """The rows of decoded lines of one decoder, the last of which has number `line`; None for odd ones."""
        import numpy as np

        self._refused = 0
        names = self.names
        rows = list(map(astuple(), (record.data for record in records)))
        shape = len(rows), len(names)
        values = np.fromiter(chain.from_iterable(rows), np.float64, shape[0] * shape[1]).reshape(shape)
        gaps = zip(*(axis.tolist() for axis in np.nonzero(values != values)), strict=True)  # no such key, or a null
        codes = {(at, place): self._null for at, place in gaps if rows[at][place] is None}
        times = [record.time for record in records]
        empty = not (values == values).any(axis=1).all()
        if empty or not all(abs(record.step) < 2**62 for record in records):
            return None
        return Block(
            names,
            np.fromiter((record.step for record in records), np.int64, len(rows)),
            values,
            None if all(time is None for time in times) else np.array(times, np.float64),
            codes,
            line,
        )


def merged(events: Iterable[Event]) -> Iterator[Event]:
    """The events, blocks that follow each other as one: each costs the columns as much as some hundred values."""
    held: list[Block] = []
    for event in events:
        goes_on = type(event) is Block and (not held or held[-1].names == event.names)
        if held and not goes_on:
            yield Block.joined(held)
            held = []
        if type(event) is Block:
            held.append(event)
        else:
            yield event
    if held:
        yield Block.joined(held)


def astuple() -> Callable[[Any], tuple[float | None, ...]]:
    """The values of a decoded line, in the order of the shape's names."""
    import msgspec

    return msgspec.structs.astuple


def _decoder(names: tuple[str, ...]) -> Callable[[bytes], Any]:
    """Decodes one line of these metrics, each of them optional; raises msgspec.MsgspecError for any other."""
    import msgspec

    fields = [(f"f{place}", float | None, math.nan) for place in range(len(names))]
    spelt: Mapping[str, str] = {f"f{place}": name for place, name in enumerate(names)}
    data = msgspec.defstruct("Data", fields, rename=spelt, forbid_unknown_fields=True, gc=False)
    top: list[tuple[str, Any] | tuple[str, Any, Any]] = [("step", int), ("data", data), ("time", float | None, None)]
    return msgspec.json.Decoder(msgspec.defstruct("Line", top, forbid_unknown_fields=True, gc=False)).decode
