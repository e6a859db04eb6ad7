"""W&B's history records read by the compiled part give the run that pure Python reads, whatever stands in the store."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.readers import wandb_offline
from klinic.diagnostics.readers.base import Reader
from klinic.diagnostics.readers.fast import extension, wandbstore
from klinic.diagnostics.run import Run

pytestmark = pytest.mark.slow

Read = Callable[[Reader, bytes, int], tuple[Run, int]]
NAMES = [
    "actor/pg_loss",
    "critic/vf_loss",
    "x/mean@4",
    "行/列",
    "global_step",
    "_timestamp",
    "_runtime",
    "time",
    "step",
]
BLOCK, HEADER = 32768, 7
TEXTS = [
    b"0.5",
    b"-1.25e-7",
    b"3",
    b"0",
    b"-0",
    b"-0.0",
    b"007",
    b"1.",
    b"NaN",
    b'"NaN"',
    b"-Infinity",
    b"null",
    b"true",
]
TEXTS += [b'"words"', b"[1, 2]", b"", b"1e999", b"9007199254740993", b"18446744073709551616", b"1" * 130, b" 1", b"1 "]


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def item(name: str, text: bytes, key: int = 2) -> bytes:
    return field(1, field(key, name.encode()) + field(16, text))


def typed(name: str, value: float) -> bytes:
    return field(1, field(1, name.encode()) + b"\x31" + struct.pack("<d", value))


def store(records: list[bytes]) -> bytes:
    """LevelDB's log framing: records cut where a block ends."""
    out = bytearray(wandb_offline.MAGIC[:4] + struct.pack("<HB", 0xBEE1, 0))
    for record in records:
        first = True
        while first or record:
            left = BLOCK - len(out) % BLOCK
            if left < HEADER:
                out += bytes(left)
                left = BLOCK
            part, record = record[: left - HEADER], record[left - HEADER :]
            kind = (1 if first else 4) if not record else (2 if first else 3)
            out += struct.pack("<IHB", zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
            first = False
    return bytes(out)


def odd_store(seed: int, damage: bool) -> bytes:
    """A store whose history is mostly alike, with everything that may stand in one."""
    luck = random.Random(seed)
    records, step = [], 0
    for number in range(1200):
        step += luck.choices([1, 0, -4], [97, 1, 2])[0]
        names = [name for name in NAMES[:7] if luck.random() < 0.97]
        luck.shuffle(names)
        items = [item(name, repr(luck.random()).encode()) for name in names]
        kind = luck.randrange(40)
        if kind < 3 and items:
            items[0] = item(luck.choice(NAMES), luck.choice(TEXTS), luck.choice([1, 2]))
        elif kind == 3:
            items.append(typed(luck.choice(NAMES), luck.choice([0.5, float("nan"), float("-inf"), step])))
        elif kind == 4:
            items.append(item(f"late/{luck.randrange(3)}", b"1.5"))
        elif kind == 5:
            items.append(item("_step", luck.choice([b"7", b"7.5", b"NaN", str(step).encode()])))
        if kind != 6:
            items.append(field(2, b"\x08" + varint(max(step, 0) + luck.choices([0, 2**54], [200, 1])[0])))
        body = [b"\x08" + varint(number), field(2, b"".join(items))]
        if kind == 7:
            body.append(field(luck.choice([2, 3, 4, 6, 13, 17, 18, 16, 200]), luck.choice([b"", b"\x08\x01", body[1]])))
        records += [b"".join(body), b"\x08\x01" + field(3, b"".join(items))]
    out = bytearray(store(records))
    for _ in range(luck.randint(1, 6) if damage else 0):
        place = luck.randrange(50_000, len(out))
        if luck.random() < 0.7:
            out[place] ^= 1 << luck.randrange(8)
        else:
            del out[place : place + luck.randint(1, 30)]
    return bytes(out)


@pytest.fixture
def purely(monkeypatch: pytest.MonkeyPatch, read: Read) -> Callable[[bytes], Run]:
    def pure(data: bytes) -> Run:
        with monkeypatch.context() as patched:
            patched.setattr(extension, "_looked_up", lambda: (None, "", ""))
            run, quick = read(wandb_offline.READER, data, 1 << 21)
        assert quick == 0
        return run

    return pure


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, native: ModuleType) -> None:
    monkeypatch.setattr(extension, "_looked_up", lambda: (native, "", ""))
    monkeypatch.setattr(wandbstore, "MANY", 1)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("damage", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_stores(
    read: Read, purely: Callable[[bytes], Run], differences: Callable[..., list[str]], seed: int, damage: bool
) -> None:
    data = odd_store(seed, damage)
    slow = purely(data)
    for size in (1 << 21, 50_000, 9001):
        run, quick = read(wandb_offline.READER, data, size)
        assert quick > (20 if damage else 100), "the quick way was not tried"
        assert differences(run, slow) == []


def test_any_item_is_read_as_python_reads_it_or_left_to_it(
    native: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    read: Read,
    purely: Callable[[bytes], Run],
    differences: Callable[..., list[str]],
) -> None:
    """Texts made up by a machine, where a JSON number may stand; and any bytes where an item may stand."""
    monkeypatch.setattr(wandbstore, "MANY", 1)
    numbers = st.from_regex(rb"-?[0-9]{1,22}(\.[0-9]{1,22})?([eE][-+]?[0-9]{1,3})?", fullmatch=True)
    texts = st.one_of(numbers, st.sampled_from(TEXTS), st.binary(max_size=12))
    places = st.one_of(st.binary(max_size=40), texts.map(lambda text: item("a/b", text)))

    @given(st.lists(places, min_size=1, max_size=6))
    @settings(max_examples=150, deadline=None)
    def check(odd: list[bytes]) -> None:
        usual = item("a/b", b"0.5") + item("c/d", b"3")
        bodies = [usual, *(item("c/d", b"1.5") + data for data in odd), usual]
        rows = [field(2, body + field(2, b"\x08" + varint(step))) for step, body in enumerate(bodies)]
        data = store(rows)
        slow = purely(data)
        with monkeypatch.context() as patched:
            patched.setattr(extension, "_looked_up", lambda: (native, "", ""))
            run, _ = read(wandb_offline.READER, data, 1 << 20)
        assert differences(run, slow) == []

    check()


def test_a_place_outside_and_too_little_room_are_refused(native: ModuleType) -> None:
    data = store([field(2, item("a", b"1") + field(2, b"\x08\x01"))] * 3)
    values, marks, ends, counts = (
        np.empty((3, 1)),
        np.empty((3, 1), np.uint8),
        np.empty(3, np.int64),
        np.empty(3, np.int64),
    )
    assert native.history(
        data, HEADER, 0, b"a\n_step\n", np.empty((3, 2)), np.empty((3, 2), np.uint8), ends, counts
    ) == (3, 0)
    for at, offset in ((len(data) + 1, 0), (-1, 0), (0, -1)):
        with pytest.raises(ValueError, match="no such place"):
            native.history(data, at, offset, b"a\n", values, marks, ends, counts)
    with pytest.raises(ValueError, match="no room"):
        native.history(data, HEADER, 0, b"a\nb\n", values, marks, ends, counts)
    with pytest.raises(ValueError, match="no names"):
        native.history(data, HEADER, 0, b"", values, marks, ends, counts)
