"""The quick way of event files gives the run that the slow way gives, also where the file is damaged."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable

import pytest

from klinic.diagnostics.readers import tensorboard
from klinic.diagnostics.readers.base import Reader
from klinic.diagnostics.readers.records import tfrecord
from klinic.diagnostics.run import Run

Read = Callable[[Reader, bytes, int], tuple[Run, int]]
NAMES = ["actor/pg_loss", "critic/vf_loss", "critic/loss", "actor/lr", "x/mean@4", "行/列"]


def odd_events(seed: int) -> bytes:
    """An event file whose steps are mostly alike, with damage."""
    luck = random.Random(seed)
    out = bytearray(frame(b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2"))
    step = luck.choice([0, 100, 16_300])
    for _ in range(600):
        step += luck.choices([1, 0, -4], [97, 1, 2])[0]
        tags = NAMES if luck.random() < 0.9 else NAMES[: luck.randint(1, 5)]
        for name in tags if luck.random() < 0.98 else luck.sample(tags, len(tags)):
            value = luck.choice([luck.random()] * 60 + [math.nan, math.inf, -math.inf])
            out += scalar(name, max(step, 0), 1.7e9 + step, value)
        if luck.random() < 0.01:
            out += frame(b"\x09" + struct.pack("<d", 1.7e9) + b"\x10\x05\x2a\x00")
    for _ in range(luck.randint(0, 4)):
        place = luck.randrange(100, len(out))
        if luck.random() < 0.5:
            out[place] ^= 1 << luck.randrange(8)
        else:
            del out[place : place + luck.randint(1, 30)]
    return bytes(out[: luck.choice([len(out), len(out) - luck.randint(1, 50)])])


def frame(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    return length + tfrecord.masked_crc(length) + payload + tfrecord.masked_crc(payload)


def field(key: int, data: bytes) -> bytes:
    return bytes([key << 3 | 2, len(data)]) + data


def scalar(tag: str, step: int, time: float, value: float) -> bytes:
    number = b"\x15" + struct.pack("<f", value)
    varint = bytes([step & 127]) if step < 128 else bytes([step & 127 | 128, step >> 7 & 127])
    varint = varint if step < 1 << 14 else bytes([step & 127 | 128, step >> 7 & 127 | 128, step >> 14])
    summary = field(5, field(1, field(1, tag.encode()) + number))
    return frame(b"\x09" + struct.pack("<d", time) + b"\x10" + varint + summary)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("seed", range(8))
def test_event_files(
    monkeypatch: pytest.MonkeyPatch, read: Read, differences: Callable[..., list[str]], seed: int
) -> None:
    data = odd_events(seed)
    quick = read(tensorboard.READER, data, 1 << 22), read(tensorboard.READER, data, 100_000)
    monkeypatch.setattr(tensorboard, "MANY", 1 << 40)
    slow, none = read(tensorboard.READER, data, 1 << 22)
    assert none == 0
    for run, count in quick:
        assert count > 100, "the quick way was not tried"
        assert differences(run, slow) == []


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("many", [64 * 1024, 1 << 40])
def test_a_wrong_payload_checksum_is_named(monkeypatch: pytest.MonkeyPatch, read: Read, many: int) -> None:
    monkeypatch.setattr(tensorboard, "MANY", many)
    records = [scalar("a/b", step, 1.7e9, 0.5) for step in range(1, 4001)]
    broken = bytearray(b"".join(records))
    broken[sum(map(len, records[:3000])) - 5] ^= 1  # in the value of the 3000th
    run, _ = read(tensorboard.READER, bytes(broken), 1 << 22)
    assert run.notes == ("1 records have a wrong checksum; read all the same",)
    assert run.frame.height == 4000
