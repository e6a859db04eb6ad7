"""JSON lines as the compiled part itself reads them: what it takes, what it leaves, nothing outside of its input."""

from __future__ import annotations

import random
from types import ModuleType

import numpy as np
import pytest

pytestmark = pytest.mark.slow

NAMES = b"a/b\nc/d\n\xe8\xa1\x8c\n"
USUAL = b'{"step":7,"data":{"a/b":0.5,"c/d":-2e-7,"\xe8\xa1\x8c":3}}'


class Table:
    """Lines read at once by the module itself."""

    def __init__(self, native: ModuleType, text: bytes, rows: int = 8, names: bytes = NAMES) -> None:
        self.native, self.text, self.names = native, text, names
        width = names.count(b"\n")
        self.steps, self.times = np.full(rows, -1), np.zeros(rows)
        self.values, self.marks = np.zeros((rows, width)), np.full((rows, width), 9, np.uint8)

    def read(self, at: int = 0) -> tuple[int, int, int]:
        room = self.steps, self.times, self.values, self.marks
        found: tuple[int, int, int] = self.native.json(self.text, at, self.names, *room)
        return found


@pytest.mark.parametrize(
    ("line", "values", "time"),
    [
        (USUAL, [0.5, -2e-7, 3], None),
        (b'{"step": 7, "data": {"a/b": 0.5, "c/d": 1E+2, "\xe8\xa1\x8c": 0}}', [0.5, 100, 0], None),
        (b' { "data" : {\t"c/d" : 1 , "a/b" : 0.5 } , "step" : 7 } \r', [0.5, 1, None], None),
        (b'{"step":7,"time":1.5e9,"data":{"\xe8\xa1\x8c":-0.0}}', [None, None, 0], 1.5e9),
        (
            b'{"time":-3,"data":{"a/b":123456789012345678901234567890},"step":7}',
            [1.2345678901234568e29, None, None],
            -3,
        ),
        (b'{"step":7,"data":{"a/b":null,"c/d":0.5}}', [None, 0.5, None], None),
    ],
)
def test_what_is_read(native: ModuleType, line: bytes, values: list[float | None], time: float | None) -> None:
    """A line of its own kind between two usual ones: the layout of the line before is only a guess."""
    table = Table(native, b"\n".join([USUAL, line, USUAL, b""]))
    assert table.read()[:2] == (3, len(table.text))
    assert table.steps.tolist() == [7, 7, 7, *[-1] * 5]
    assert [None if value != value else value for value in table.values[1].tolist()] == values
    assert [None if value != value else value for value in table.times[:3].tolist()] == [None, time, None]
    assert table.values[[0, 2]].tolist() == [[0.5, -2e-7, 3]] * 2


def test_a_null_is_told_from_no_value(native: ModuleType) -> None:
    table = Table(native, b'{"step":1,"data":{"a/b":null,"c/d":0.5}}\n')
    assert table.read() == (1, len(table.text), 1)
    assert table.marks[0].tolist() == [5, 1, 0]


REFUSED = [
    b"",
    b"{}",
    b'{"step":7}',
    b'{"step":7,"data":{}}',
    b'{"step":7,"data":{"a/b":null}}',
    b'{"data":{"a/b":1}}',
    b'{"step":7,"data":{"a/b":1},"data":{"c/d":1}}',
    b'{"step":7,"step":7,"data":{"a/b":1}}',
    b'{"step":7,"data":{"a/b":1,"a/b":1}}',
    b'{"step":7,"data":{"a/b":1,"c/d":1,"a/b":1}}',
    b'{"step":7,"data":{"a/b":1,"other":1}}',
    b'{"step":7,"data":{"a\\/b":1}}',
    b'{"step":7,"data":{"a/b":true}}',
    b'{"step":7,"data":{"a/b":"1"}}',
    b'{"step":7,"data":{"a/b":[1]}}',
    b'{"step":7,"data":{"a/b":{"c/d":1}}}',
    b'{"step":7,"data":{"a/b":NaN}}',
    b'{"step":7,"data":{"a/b":-Infinity}}',
    b'{"step":7,"data":{"a/b":nulls}}',
    *(
        b'{"step":7,"data":{"a/b":%s}}' % text
        for text in (b"01", b"-01.5", b"-0", b"-", b"+1", b".5", b"1.", b"1e", b"1e999", b"0x1", b"1 2", b"1,", b"")
    ),
    *(
        b'{"step":%s,"data":{"a/b":1}}' % text
        for text in (b"-7", b"7.0", b"07", b"7e0", b"1" * 19, b'"7"', b"null", b"")
    ),
    b'{"step":7,"time":null,"data":{"a/b":1}}',
    b'{"step":7,"nonfinite":{},"data":{"a/b":1}}',
    b'{"step":7,"data":{"a/b":1}',
    b'{"step":7,"data":{"a/b":1}}}',
    b'{"step":7,"data":{"a/b":1}} x',
    b'{"step":7,"data":{"a/b":1}}\0',
    b'{"step":7,"data":{"a/b":1},}',
    b'{"step":7"data":{"a/b":1}}',
    b'\xef\xbb\xbf{"step":7,"data":{"a/b":1}}',
]


@pytest.mark.parametrize("line", REFUSED)
def test_any_other_line_is_left_to_python(native: ModuleType, line: bytes) -> None:
    table = Table(native, b"\n".join([USUAL, line, USUAL, b""]))
    assert table.read() == (1, len(USUAL) + 1, 0)
    assert table.read(len(USUAL) + len(line) + 2) == (1, len(table.text), 0)


def test_a_line_without_end_is_left(native: ModuleType) -> None:
    assert Table(native, USUAL).read() == (0, 0, 0)


def test_no_more_rows_than_there_is_room_for(native: ModuleType) -> None:
    assert Table(native, (USUAL + b"\n") * 5, rows=3).read() == (3, 3 * len(USUAL) + 3, 0)


def test_a_place_outside_and_too_little_room_are_refused(native: ModuleType) -> None:
    for at in (-1, len(USUAL) + 2):
        with pytest.raises(ValueError, match="no such place"):
            Table(native, USUAL + b"\n").read(at)
    with pytest.raises(ValueError, match="no names"):
        Table(native, USUAL, names=b"").read()
    for name in ("times", "values", "marks"):
        table = Table(native, USUAL)
        setattr(table, name, getattr(table, name)[:-1])
        with pytest.raises(ValueError, match="no room"):
            table.read()


@pytest.mark.parametrize("seed", range(40))
def test_any_bytes_and_any_names(native: ModuleType, seed: int) -> None:
    """Whatever stands in the text and in the tables, it is read in bounds: an answer."""
    luck = random.Random(seed)
    words = [
        b'{"step":',
        b'"data":{',
        b'"time":',
        b'"a/b":',
        b'"',
        b"{",
        b"}",
        b":",
        b",",
        b" ",
        b"\n",
        b"\\",
        b"\0",
        b"-",
    ]
    words += [b"7", b"0.25", b"9" * 25, b"null", b"nul", b"e-7", b"\xff", USUAL, USUAL + b"\n"]
    for _ in range(300):
        text = b"".join(luck.choices(words, k=luck.randint(0, 40)))
        names = b"\n".join(luck.choices([b"a/b", b"", b"\xff", b"c/d", b'"'], k=luck.randint(1, 4))) + b"\n"
        table = Table(native, text, rows=luck.randint(0, 4), names=names)
        at = luck.randint(0, len(text))
        rows, after, _ = table.read(at)
        assert 0 <= rows <= len(table.steps)
        assert at <= after <= len(text)
