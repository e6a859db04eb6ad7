"""The quick way through event files: one step's records make a template, and the next steps are compared with it.

`SummaryWriter.add_scalar` writes the same tags in the same order at every step. All bytes but wall times, step,
values and payload CRCs must be those of the template; the CRCs are computed. Where a byte differs the slow way reads.
The compiled part does the same where it is installed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from klinic.diagnostics.readers.fast import extension
from klinic.diagnostics.readers.records import protowire as wire
from klinic.diagnostics.readers.records import tfrecord
from klinic.diagnostics.readers.records.crc import MAX_LENGTH, contributions, masked
from klinic.diagnostics.run.events import Block
from klinic.diagnostics.run.model import MINUS_INF, NAN, PLUS_INF

if TYPE_CHECKING:
    import numpy as np

TIME_AT, STEP_AT = 13, 22  # in a frame: after the length, its CRC and a key
MAX_TAGS = 5000
ROWS = 1 << 20  # bytes compared at once
MAX_WIDTH = 9  # bytes of a step that the compiled part reads: none below 0


@dataclass(frozen=True, eq=False)
class Layout:
    """The records of one step: tags, and where in the step's bytes things stand."""

    tags: tuple[str, ...]
    stride: int
    fixed: np.ndarray  # places of the bytes that do not vary
    template: np.ndarray
    steps: np.ndarray  # [tags, width of the step's number]
    times: np.ndarray  # [8]: of the first record
    values: np.ndarray  # [tags, 4]
    crcs: np.ndarray  # [tags, 4]
    vary: np.ndarray  # [tags, varying bytes] and what each of them contributes to the CRC
    weight: np.ndarray
    base: np.ndarray  # CRC of each payload with its varying bytes 0
    whole: bytes  # the step itself
    records: np.ndarray  # int32 [tags, 2]: start and length of payload

    def __deepcopy__(self, _: dict[int, Any]) -> Layout:
        return self

    def begins(self, data: bytes, at: int) -> bool:
        """Whether a whole step of this layout stands at a place, and no more of that step after it."""
        import numpy as np

        step = np.frombuffer(data[at : at + self.stride], np.uint8)
        if len(step) < self.stride or not (step[self.fixed] == self.template).all():
            return False
        width, after = self.steps.shape[1], at + self.stride + STEP_AT
        return data[at + STEP_AT : at + STEP_AT + width] != data[after : after + width]

    def rows(self, view: memoryview) -> tuple[Block, int, int] | None:
        """(rows that fit at the start of the bytes, how long they are, how many payload CRCs are wrong), or None."""
        native = extension.module()
        if native is not None and self.steps.shape[1] <= MAX_WIDTH:
            return self._compiled(native, view)
        import numpy as np

        data = np.frombuffer(view, np.uint8)
        count = min(len(data) // self.stride, max(ROWS // self.stride, 1))
        if not count:
            return None
        steps = data[: count * self.stride].reshape(count, self.stride)
        good = (steps[:, self.fixed] == self.template).all(axis=1)
        number = steps[:, self.steps]
        good &= (number == number[:, :1]).all(axis=(1, 2)) & (number[:, 0, :-1] >= 128).all(axis=1)
        good &= number[:, 0, -1] < 128
        fit = count if good.all() else int(np.argmin(good))
        if not fit:
            return None
        steps, number = steps[:fit], number[:fit, 0].astype(np.int64)
        values = np.ascontiguousarray(steps[:, self.values]).view("<f4")[:, :, 0].astype(np.float64)
        block = Block(
            self.tags,
            (number & 127) @ (1 << 7 * np.arange(number.shape[1], dtype=np.int64)),
            values,
            np.ascontiguousarray(steps[:, self.times]).view("<f8")[:, 0],
            _codes(values),
        )
        return block, fit * self.stride, self._wrong(steps)

    def _compiled(self, native: Any, view: memoryview) -> tuple[Block, int, int] | None:
        import numpy as np

        count, tags = len(view) // self.stride, len(self.tags)
        steps, times, values = np.empty(count, np.int64), np.empty(count), np.empty((count, tags))
        width = self.steps.shape[1]
        fit, odd, wrong = native.events(view, self.whole, self.records, width, steps, times, values)
        if not fit:
            return None
        codes = _codes(values[:fit]) if odd else {}
        return Block(self.tags, steps[:fit], values[:fit], times[:fit], codes), fit * self.stride, wrong

    def _wrong(self, steps: np.ndarray) -> int:
        """How many payload CRCs are not those of the payloads."""
        import numpy as np

        crc = np.broadcast_to(self.base, (len(steps), len(self.base))).copy()
        table = contributions().ravel()
        for place in range(self.vary.shape[1]):
            crc ^= table[self.weight[:, place] + steps[:, self.vary[:, place]]]
        written = np.ascontiguousarray(steps[:, self.crcs]).view("<u4")[:, :, 0]
        return int((masked(crc) != written).sum())


def _codes(values: np.ndarray) -> dict[tuple[int, int], int]:
    """Codes of the values that are not finite; these become NaN."""
    import numpy as np

    odd = ~np.isfinite(values)
    if not odd.any():
        return {}
    codes = {}
    for row, place in zip(*(axis.tolist() for axis in np.nonzero(odd)), strict=True):
        value = values[row, place]
        codes[row, place] = NAN if value != value else PLUS_INF if value > 0 else MINUS_INF
    values[odd] = np.nan
    return codes


def layout_at(data: bytes, at: int) -> Layout | None:
    """The layout of the step whose records begin at a place; None where they do not end or are of another kind."""
    start, width, first = at, 0, b""
    frames: list[tuple[int, int, str]] = []
    while at + 12 <= len(data) and len(frames) <= MAX_TAGS:
        end = at + 16 + struct.unpack_from("<Q", data, at)[0]
        if not tfrecord.starts_a_record(data, at) or end > len(data) or end - at - 16 > MAX_LENGTH:
            return None
        record = data[at + 12 : end - 4]
        found = _scalar(record)
        if found is None:
            break
        tag, step = found
        if first and step != first:
            break
        first, width = step, len(step)
        frames.append((at - start, len(record), tag))
        at = end
    else:
        return None
    tags = tuple(tag for _, _, tag in frames)
    return _layout(data[start:at], frames, width) if tags and len(set(tags)) == len(tags) else None


def _scalar(record: bytes) -> tuple[str, bytes] | None:
    """(tag, bytes of the step) of a record that add_scalar wrote."""
    if len(record) < 20 or (record[0], record[9], record[-5]) != (0x09, 0x10, 0x15):
        return None
    try:
        _, end = wire.varint(record, 10)
        (summary,) = (value for field, value in wire.fields(record) if field == 5)
        ((kind, value),) = wire.fields(wire.as_bytes(summary))
        (name, number) = wire.fields(wire.as_bytes(value))
    except ValueError:
        return None
    if (kind, name[0], number[0]) != (1, 1, 2) or len(record) > tfrecord.MAX_RECORD:
        return None
    return wire.as_text(name[1]), record[10:end]


def _layout(step: bytes, frames: list[tuple[int, int, str]], width: int) -> Layout:
    import numpy as np

    starts = np.array([start for start, _, _ in frames])[:, None]
    lengths = np.array([length for _, length, _ in frames])[:, None]
    steps = starts + STEP_AT + np.arange(width)
    values = starts + 12 + lengths - 4 + np.arange(4)
    crcs = starts + 12 + lengths + np.arange(4)
    vary = np.concatenate([starts + TIME_AT + np.arange(8), steps, values], axis=1)
    data = np.frombuffer(step, np.uint8)
    still = np.ones(len(data), bool)
    still[vary] = still[crcs] = False
    blank = data.copy()
    blank[vary] = 0
    base = [tfrecord.crc32c(blank[start + 12 : start + 12 + length].tobytes()) for start, length, _ in frames]
    return Layout(
        tuple(tag for _, _, tag in frames),
        len(data),
        np.flatnonzero(still),
        data[still],
        steps,
        TIME_AT + np.arange(8),
        values,
        crcs,
        vary,
        (starts + 12 + lengths - 1 - vary) * 256,
        np.array(base, np.uint32),
        step,
        np.concatenate([starts, lengths], axis=1).astype(np.int32),
    )
