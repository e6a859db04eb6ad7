"""The number in a TensorProto of one element."""

from __future__ import annotations

import struct

from klinic.diagnostics.readers.records import protowire as wire

# TensorProto: field -> struct letter of packed numbers; DataType -> struct letter of tensor_content.
_PACKED = {5: "f", 6: "d"}
_VARINTS = (7, 10, 11)
_CONTENT = {1: "f", 2: "d", 3: "i", 4: "B", 5: "h", 6: "b", 9: "q", 10: "?", 17: "H", 19: "e", 22: "I", 23: "Q"}


def scalar_of_tensor(data: bytes) -> float | None:
    """The number in a TensorProto of one element, or None where it holds none or several."""
    kind, content, numbers = 0, b"", []
    for field, value in wire.fields(data):
        if field == 1:
            kind = wire.as_int(value)
        elif field == 4:
            content = wire.as_bytes(value)
        elif field in _PACKED:
            numbers += wire.packed(wire.as_bytes(value), _PACKED[field])
        elif field in _VARINTS:
            numbers += wire.packed_varints(value)
        elif field == 13:
            numbers += [_half(number, kind) for number in wire.packed_varints(value)]
    if not numbers and content:
        numbers = _content(content, kind)
    return float(numbers[0]) if len(numbers) == 1 else None


def _content(content: bytes, kind: int) -> list[float]:
    if kind == 14 and len(content) == 2:
        return [_half(int.from_bytes(content, "little"), kind)]
    form = _CONTENT.get(kind)
    return wire.packed(content, form) if form and len(content) == struct.calcsize(form) else []


def _half(bits: int, kind: int) -> float:
    """A half (19) or a bfloat16 (14) from its bits."""
    bits &= 0xFFFF
    form, raw = ("<e", struct.pack("<H", bits)) if kind == 19 else ("<f", struct.pack("<I", bits << 16))
    return float(struct.unpack(form, raw)[0])
