"""UTF-16 and UTF-32 as UTF-8, also in a part of a file; whatever the pieces."""

from __future__ import annotations

import random
import struct

import pytest

from klinic.diagnostics.readers.sources.utf16 import Narrow

LETTERS = "step:7 - actor/entropy:0.25 - critic/score/mean:0.5 - actor/lr:0.000001\n"
CHINESE = "开始训练，第七步 - 奖励均值：零点五\n"
PARTS = [(LETTERS + CHINESE) * 3, (LETTERS * 2 + CHINESE + LETTERS), LETTERS * 4]


def narrowed(data: bytes, sizes: list[int]) -> bytes:
    narrow, out, at = Narrow(), b"", 0
    for size in sizes:
        out += narrow.feed(data[at : at + size])
        at += size
    return out + narrow.feed(data[at:]) + narrow.rest()


@pytest.mark.parametrize(
    "codes",
    [
        ["utf-16", "utf-8"],
        ["utf-16", "utf-8", "utf-16-le"],
        ["utf-8", "utf-16-le", "utf-8"],
        ["utf-8-sig", "utf-16-le"],
        ["utf-16-le"],
        ["utf-16-be"],
        ["utf-8", "utf-16-be"],
        ["utf-32"],
        ["utf-32", "utf-8"],
        ["utf-8"],
    ],
)
def test_each_part_of_a_file_comes_out_in_utf8_whatever_the_pieces(codes: list[str]) -> None:
    parts = [LETTERS + PARTS[at] if at else PARTS[-1] + PARTS[at] for at in range(len(codes))]
    data = b"".join(part.encode(code) for part, code in zip(parts, codes, strict=True))
    whole = "".join(parts).encode()
    assert narrowed(data, []) == whole
    assert narrowed(data, [1] * len(data)) == whole
    chance = random.Random(7)
    for _ in range(50):
        assert narrowed(data, [chance.randrange(1, 40) for _ in range(len(data) // 20)]) == whole


def test_big_endian_is_told_by_its_mark() -> None:
    assert narrowed(b"\xfe\xff" + (LETTERS + CHINESE).encode("utf-16-be"), [3, 3]) == (LETTERS + CHINESE).encode()


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<4Q", 24, 7, 0, 1) + "a tag of a TensorBoard file".encode("utf-16-le") * 4,
        LETTERS.encode() + bytes(5000) + LETTERS.encode("utf-16-le"),
        b"\0" * 40 + LETTERS.encode(),
        b"a\0b\0c\n" * 40,
        b"",
        b"\xef",
        b"\xff",
    ],
)
def test_binary_data_and_holes_pass_as_they_are(data: bytes) -> None:
    assert narrowed(data, []) == data
    assert narrowed(data, [1] * len(data)) == data


def test_a_line_is_not_waited_for_once_it_has_ended() -> None:
    narrow = Narrow()
    assert narrow.feed((LETTERS * 2).encode("utf-16")) == (LETTERS * 2).encode()
    assert narrow.feed(LETTERS.encode("utf-16-le")) == LETTERS.encode()
    plain = Narrow()
    assert plain.feed(LETTERS.encode()) == LETTERS.encode()
    assert plain.feed(LETTERS.encode("utf-16-le")) == LETTERS.encode()


def test_a_short_last_line_in_another_encoding_is_not_lost() -> None:
    assert narrowed((LETTERS * 2).encode("utf-16") + b"done\n", []).endswith(b"mean:0.5 - actor/lr:0.000001\ndone\n")
