"""CRC-32C of many payloads at once, from tables: the CRC of bytes is the XOR of what each byte contributes alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from klinic.diagnostics.readers.records import tfrecord

if TYPE_CHECKING:
    import numpy as np

MAX_LENGTH = 1024  # payloads beyond this are checked one by one
FEW = 64


@cache
def contributions() -> np.ndarray:
    """uint32 [MAX_LENGTH, 256]: what a byte contributes that stands so many bytes before the end."""
    import numpy as np

    table = np.array(tfrecord.TABLE, np.uint32)
    rows = [table]
    for _ in range(MAX_LENGTH - 1):
        rows.append(rows[-1] >> np.uint32(8) ^ table[rows[-1] & np.uint32(0xFF)])
    return np.stack(rows)


def masked(crc: np.ndarray) -> np.ndarray:
    """CRCs as TFRecord writes them."""
    import numpy as np

    return (crc >> np.uint32(15) | crc << np.uint32(17)) + np.uint32(0xA282EAD8)


def wrong(records: Sequence[tuple[bytes, bytes]]) -> list[int]:
    """Which of (payload, masked CRC) do not fit."""
    by_length: dict[int, list[int]] = {}
    for at, (payload, _) in enumerate(records):
        by_length.setdefault(len(payload), []).append(at)
    found: list[int] = []
    for length, places in by_length.items():
        many = 0 < length <= MAX_LENGTH and len(places) >= FEW
        found += _wrong_at_once(records, places) if many else [at for at in places if not _fits(*records[at])]
    return sorted(found)


def _fits(payload: bytes, crc: bytes) -> bool:
    return tfrecord.masked_crc.__wrapped__(payload) == crc


def _wrong_at_once(records: Sequence[tuple[bytes, bytes]], places: list[int]) -> list[int]:
    import numpy as np

    length = len(records[places[0]][0])
    data = np.frombuffer(b"".join(records[at][0] for at in places), np.uint8).reshape(-1, length)
    written = np.frombuffer(b"".join(records[at][1] for at in places), "<u4")
    crc = np.full(len(data), tfrecord.crc32c(bytes(length)), np.uint32)
    for place in range(length):
        crc ^= contributions()[length - 1 - place][data[:, place]]
    return [places[at] for at in np.flatnonzero(masked(crc) != written).tolist()]
