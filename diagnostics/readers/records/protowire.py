"""The wire format of Protocol Buffers, as much of it as event files need: no schema, no import."""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

_DOUBLE = struct.Struct("<d")
_FLOAT = struct.Struct("<f")


def varint(data: bytes, at: int) -> tuple[int, int]:
    """(value, next position) of a varint; ValueError where it is cut or too long."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError(f"cut or overlong number at byte {at}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def signed(value: int) -> int:
    """A varint read as int32 or int64."""
    return value - (1 << 64) if value >= 1 << 63 else value


def zigzag(value: int) -> int:
    """A varint read as sint64."""
    return (value >> 1) ^ -(value & 1)


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of a message: varints as integers, the rest as bytes. ValueError where it is damaged."""
    at, end = 0, len(data)
    while at < end:
        key, at = (data[at], at + 1) if data[at] < 0x80 else varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            size, at = (data[at], at + 1) if at < end and data[at] < 0x80 else varint(data, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise ValueError(f"unknown wire type {kind} at byte {at}")
        stop = at + size
        if stop > end:
            raise ValueError(f"field cut at byte {at}")
        yield key >> 3, data[at:stop]
        at = stop


def as_double(value: int | bytes) -> float:
    """A fixed64 field read as double."""
    return float(_DOUBLE.unpack(_fixed(value, 8))[0])


def as_float(value: int | bytes) -> float:
    """A fixed32 field read as float."""
    return float(_FLOAT.unpack(_fixed(value, 4))[0])


def as_int(value: int | bytes) -> int:
    """A varint field; ValueError where the field is of another kind."""
    if isinstance(value, bytes):
        raise ValueError("bytes where a number belongs")
    return value


def as_bytes(value: int | bytes) -> bytes:
    """A length-delimited field; ValueError where the field is of another kind."""
    if isinstance(value, int):
        raise ValueError("a number where bytes belong")
    return value


def as_text(value: int | bytes) -> str:
    """A string field."""
    return as_bytes(value).decode("utf-8", "replace")


def _fixed(value: int | bytes, size: int) -> bytes:
    data = as_bytes(value)
    if len(data) != size:
        raise ValueError(f"{len(data)} bytes where {size} belong")
    return data


def packed(data: bytes, form: str) -> list[float]:
    """A packed field of fixed-size numbers; `form` is a struct letter."""
    size = struct.calcsize(form)
    return list(struct.unpack(f"<{len(data) // size}{form}", data[: len(data) // size * size]))


def packed_varints(value: int | bytes) -> list[int]:
    """A repeated integer field, packed or one by one."""
    if isinstance(value, int):
        return [signed(value)]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(signed(number))
    return found
