"""Records of W&B's history as they usually are, read at once: items of one short key and a short JSON value each."""

from __future__ import annotations

from typing import Any

import orjson

from klinic.diagnostics.readers.records import protowire as wire

# Of an item, as the wire has them: key and nested_key, value_json.
KEYS, JSON_KEY = (b"\x0a", b"\x12"), b"\x82\x01"


def usual_items(data: bytes) -> dict[str, Any] | None:
    """Quick reading of a history record in which every item is one short key and a short JSON value; else None."""
    cut = _cut(data)
    step = _step_behind(cut[2]) if cut else None
    keys = _keys_before(cut[0], cut[1]) if cut else None
    if cut is None or step is None or keys is None:
        return None
    try:
        record = dict(zip(keys, orjson.loads(b"[" + b",".join(cut[1]) + b"]"), strict=True))
    except ValueError:
        return None
    if step >= 0:
        record.setdefault("_step", wire.signed(step))
    return record


def _cut(data: bytes) -> tuple[list[bytes], list[bytes], bytes] | None:
    """What stands before each value, the values as JSON, what stands behind the last; None where one is long."""
    first, *pieces = data.split(JSON_KEY)
    heads, texts = [first], []
    for piece in pieces:
        end = piece[0] + 1 if piece else 1
        if end > min(len(piece), 128):
            return None
        texts.append(piece[1:end])
        heads.append(piece[end:])
    return heads[:-1], texts, heads[-1]


def _step_behind(rest: bytes) -> int | None:
    """The record's step, -1 where it has none; None for what is no step."""
    if not rest:
        return -1
    if rest[:1] != b"\x12" or len(rest) <= 3 or rest[1] != len(rest) - 2 or rest[2] != 8:
        return None
    step, end = wire.varint(rest, 3)
    return step if end == len(rest) else None


def _keys_before(heads: list[bytes], texts: list[bytes]) -> list[str] | None:
    """The keys of the values; None where an item is more than one key and a value."""
    keys = []
    for head, text in zip(heads, texts, strict=True):
        size = len(head)
        if size < 4 or head[0] != 10 or head[2:3] not in KEYS or head[3] != size - 4 or not text or head[1] > 127:
            return None
        if head[1] != size + len(text) + 1:
            return None
        keys.append(head[4:].decode("utf-8", "replace"))
    return keys
