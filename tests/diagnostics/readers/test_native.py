"""The compiled parts of readers: numbers as Python reads them, and nothing outside of what it is given."""

from __future__ import annotations

import ctypes
import math
import random
import re
import struct
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from klinic.diagnostics.readers.fast import extension

pytestmark = pytest.mark.slow

BEFORE = b"(TaskRunner pid=7) "


class Table:
    """Metric lines with the keys a, b, ..., read at once."""

    def __init__(self, native: ModuleType, lines: list[bytes], width: int = 1) -> None:
        self.native, self.text = native, b"".join(BEFORE + line + b"\n" for line in lines)
        self.names = b"".join(b"%c\n" % (97 + place) for place in range(width))
        _, _, self.spans = native.lines(self.text, b"", b"")
        rows = len(self.spans) // 16
        self.steps = np.empty(rows, np.int64)
        self.values = np.empty((rows, width))
        self.marks = np.empty((rows, width), np.uint8)
        self.pattern = bytes([1] * width)

    def read(self, start: int = 0) -> int:
        """How many lines from one on are as expected."""
        room = self.steps[start:], self.values[start:], self.marks[start:]
        tables = self.names, self.pattern, BEFORE + b"\n"
        count: int = self.native.rows(self.text, self.spans, start, len(self.steps), *tables, *room)[0]
        return count


def bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def between(luck: random.Random) -> str:
    """Exactly between two doubles, or one digit beside that, as far as 19 digits and their exponents go."""
    mantissa = luck.randrange(1 << 53, 1 << 54) | 1  # odd with 54 bits: a tie
    power = luck.randrange(-9, 9)
    text = str(mantissa * 2**power if power >= 0 else mantissa * 5**-power)
    value = int(text) + luck.choice([-1, 0, 1])
    return f"{value}e{power if power < 0 else 0}"


def spelt(luck: random.Random) -> str:
    """A number as a logger may print it."""
    bare = struct.unpack("<d", luck.randbytes(8))[0]
    kinds = [
        repr(luck.gauss(0, 1)),
        repr(luck.random() * 10.0 ** luck.randint(-12, 12)),
        repr(bare if math.isfinite(bare) else 0.5),
        str(luck.randrange(10 ** luck.randint(1, 25))),
        f"{luck.random():.{luck.randint(1, 25)}f}",
        f"{luck.randrange(10**19)}e{luck.randint(-30, 30)}",
        f"-{luck.randrange(10**17)}.{luck.randrange(10**5)}E+{luck.randint(0, 12)}",
        between(luck),
        luck.choice(["0", "-0", "0.0", "-0.0", "0e5", "5e-324", "1.7976931348623157e308", "2.2250738585072011e-308"]),
        luck.choice(["9007199254740993", "9007199254740992.5", "18446744073709551615", "18446744073709551616"]),
    ]
    return luck.choice(kinds)


@pytest.mark.parametrize("seed", range(8))
def test_numbers_are_bit_for_bit_those_of_python(native: ModuleType, seed: int) -> None:
    luck = random.Random(seed)
    texts = [spelt(luck) for _ in range(20_000)]
    table = Table(native, [b"step:%d - a:%s" % (at, text.encode()) for at, text in enumerate(texts)])
    done = 0
    while done < len(texts):
        done += table.read(done) + 1  # over the padded ones and those that no double holds
    for text, value, mark in zip(texts, table.values[:, 0].tolist(), table.marks[:, 0].tolist(), strict=True):
        if mark == 1:
            assert bits(value) == bits(float(text)), text
    assert (table.marks == 1).mean() > 0.95


@pytest.mark.parametrize("text", ["", "+1", ".5", "1.", "1e", "1e+", "0x1", "1_0", "1e400", "NaN", "nan ", "1 ", "1)"])
def test_another_spelling_is_left_to_python(native: ModuleType, text: str) -> None:
    assert Table(native, [b"step:1 - a:" + text.encode()]).read() == 0


@pytest.mark.parametrize(
    ("text", "mark"),
    [("nan", 2), ("inf", 3), ("-inf", 4), ("np.float64(nan)", 2), ("np.float32(0.25)", 1), ("np.float64(-inf)", 4)],
)
def test_values_that_are_not_finite_or_wrapped(native: ModuleType, text: str, mark: int) -> None:
    table = Table(native, [b"step:1 - a:" + text.encode()])
    assert table.read() == 1
    assert table.marks.tolist() == [[mark]]
    assert (table.values[0, 0] == 0.25) == (mark == 1)


@pytest.mark.parametrize(
    "line",
    [
        b"step:1 - a:1 - b:2 - a:1",
        b"step:1 - a:1 - c:2",
        b"step:1 - a:1",
        b"step:1 - a:1 - b:2 - ",
        b"step:1 - a:1 -  b:2",
        b"step:1 - a:1.50 - b:2.25",
        b"step:1 - a:1.50 - b:2.2",
        b"and step:1 - a:1 - b:2",
    ],
)
def test_a_line_that_is_not_as_expected_ends_the_reading(native: ModuleType, line: bytes) -> None:
    good = b"step:3 - b:0.125 - a:1"
    table = Table(native, [good, good, line, good], width=2)
    assert table.read() == 2
    assert table.values[:2].tolist() == [[1, 0.125]] * 2
    assert table.read(3) == 1


@pytest.mark.parametrize("seed", range(40))
def test_any_bytes_and_any_places(native: ModuleType, seed: int) -> None:
    """Whatever stands in the text and in the tables: an answer or a ValueError."""
    luck = random.Random(seed)
    words = [
        b"step:",
        b" - ",
        b"a:",
        b"1.5",
        b"np.float64(",
        b"nan",
        b")",
        b"\n",
        b"\0",
        b"9" * 25,
        b"e-7",
        BEFORE,
        b"\xff",
    ]
    for _ in range(200):
        text = b"".join(luck.choices(words, k=luck.randint(0, 60)))
        table = Table(native, [text, b"step:1 - a:1"])
        assert 0 <= table.read() <= len(table.steps)
        table.spans = luck.randbytes(16 * len(table.steps))
        with pytest.raises(ValueError, match="outside of the text"):
            table.read()


def test_too_little_room_is_refused(native: ModuleType) -> None:
    table = Table(native, [b"step:1 - a:1"] * 3)
    table.values = table.values[:2]
    with pytest.raises(ValueError, match="no room"):
        table.read()


def test_records_that_are_not_the_step_are_refused(native: ModuleType) -> None:
    """Of event files: what is compared must lie within the template, and the rows within their room."""
    room = np.empty(2, np.int64), np.empty(2), np.empty(2)
    step = bytes(12 + 25 + 4)
    assert native.events(step * 2, step, np.array([[0, 25]], np.int32), 1, *room)[0] == 2
    for records in ([[0, 26]], [[0, 24]], [[1, 24]], [[0, 2**31 - 1]], [[0, -1]], [[0, 25], [41, 25]]):
        with pytest.raises(ValueError, match="events: "):
            native.events(step * 2, step, np.array(records, np.int32), 1, *room)
    for width in (0, -1, 10, 12):
        with pytest.raises(ValueError, match="events: "):
            native.events(step * 2, step, np.array([[0, 25]], np.int32), width, *room)
    with pytest.raises(ValueError, match="no room"):
        native.events(step * 2, step, np.array([[0, 25]], np.int32), 1, room[0], room[1][:1], room[2])


def test_only_the_module_is_seen_from_outside(native: ModuleType) -> None:
    """Files share functions through headers; a program that has a `find` of its own must not get this one."""
    headers = "".join(path.read_text() for path in (Path(__file__).parents[3] / "native").glob("*.h"))
    shared = {*re.findall(r"^\w[\w ]*[ *](\w+)\([^;{]*\);", headers, re.MULTILINE)}
    assert {"find", "take_row", "number_from"} <= shared
    assert native.__file__
    library = ctypes.PyDLL(native.__file__)
    assert hasattr(library, f"PyInit_{extension.MODULE}")
    assert {name for name in shared if hasattr(library, name)} == set()


def test_another_interface_is_not_used(monkeypatch: pytest.MonkeyPatch, native: ModuleType) -> None:
    extension._looked_up.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, extension.MODULE, native)
    assert extension.state() == "in use"
    monkeypatch.setattr(native, "INTERFACE", 0)
    extension._looked_up.cache_clear()
    assert extension.module() is None
    assert "another release" in extension.state()
    extension._looked_up.cache_clear()
    monkeypatch.setenv(extension.SWITCH, "0")
    assert extension.state() == "not in use: KLINIC_NATIVE is 0"
    extension._looked_up.cache_clear()
