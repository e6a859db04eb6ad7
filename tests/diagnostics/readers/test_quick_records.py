"""W&B's history records read at once, and lines without end."""

from __future__ import annotations

import random

import pytest

from klinic.diagnostics.readers import wandb_offline
from klinic.diagnostics.readers.records import wandbitems
from klinic.diagnostics.readers.text import frames

NAMES = ["actor/pg_loss", "critic/vf_loss", "x/mean@4", "行/列"]


def field(key: int, data: bytes) -> bytes:
    return bytes([key << 3 | 2, len(data)]) + data


def item(name: str, text: bytes) -> bytes:
    return field(1, bytes([0x12, len(name.encode())]) + name.encode() + b"\x82\x01" + bytes([len(text)]) + text)


def record(luck: random.Random) -> bytes:
    """A history record: whole, cut, or with a damaged byte."""
    texts = [b"0.5", b"12", b'"words"', b"null", b"[1, 2]", b"NaN", b"", b'"\xe4\xb8\x82"', b"1" * 120]
    weights = [9, 9, 1, 1, 1, 0.2, 0.2, 1, 0.2]
    items = [item(luck.choice(NAMES), luck.choices(texts, weights)[0]) for _ in range(luck.randint(1, 9))]
    data = bytearray(b"".join(items) + luck.choice([b"", field(2, b"\x08\x05"), field(2, b"\x08\x85\x01")]))
    if luck.random() < 0.5:
        data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
    return bytes(data)


def values(items: dict[str, float]) -> dict[str, float]:
    return {key: value for key, value in items.items() if key != "_step"}


def test_the_quick_reading_of_a_record_gives_what_the_slow_one_gives_or_leaves_it_to_that() -> None:
    records = [record(random.Random(seed)) for seed in range(200)]
    quick = [(data, items) for data in records if (items := wandbitems.usual_items(data)) is not None]
    assert 50 < len(quick) < 200
    assert [data for data, items in quick if values(items) != values(wandb_offline._items(data, 1))] == []


def test_a_usual_history_record_is_read_the_quick_way() -> None:
    data = item("a/b", b"0.5") + item("_step", b"3") + field(2, b"\x08\x03")
    assert wandbitems.usual_items(data) == {"a/b": 0.5, "_step": 3}


def test_a_line_without_end_is_left_out_beyond_a_bound() -> None:
    lines = frames.Frames()
    found = [frame for _ in range(60) for frame in lines.feed(b"x" * (1 << 20))]
    assert sum(len(frame.text) for frame in found) == pytest.approx(frames.MAX_FRAMES * frames.MAX_FRAME, rel=0.01)
    assert found[-1].text == "(the rest of this overlong line is left out)"
    assert [frame.text for frame in lines.feed(b"\nnext line\n")][-1] == "next line"
