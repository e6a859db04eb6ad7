"""JSON lines read by the compiled part give the run that pure Python reads, whatever stands in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.readers import jsonl
from klinic.diagnostics.readers.base import Reader
from klinic.diagnostics.readers.fast import extension
from klinic.diagnostics.run import Run

pytestmark = pytest.mark.slow

Read = Callable[[Reader, bytes, int], tuple[Run, int]]
Purely = Callable[[bytes], Run]


@pytest.fixture
def purely(monkeypatch: pytest.MonkeyPatch, read: Read) -> Purely:
    def pure(data: bytes) -> Run:
        with monkeypatch.context() as patched:
            patched.setattr(extension, "_looked_up", lambda: (None, "", ""))
            return read(jsonl.READER, data, 1 << 21)[0]

    return pure


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, native: ModuleType, read: Read) -> Callable[..., tuple[Run, int]]:
    """The run as the compiled part reads it, fed in pieces, and how many of its rows that gave."""

    def compile_(data: bytes, size: int = 1 << 21) -> tuple[Run, int]:
        with monkeypatch.context() as patched:
            patched.setattr(extension, "_looked_up", lambda: (native, "", ""))
            patched.setattr(jsonl, "MANY", 1)
            patched.setattr(jsonl.Shape, "decode", lambda *_: pytest.fail("pure Python's quick way was taken"))
            return read(jsonl.READER, data, size)

    return compile_


def lines(count: int, start: int = 1, **more: object) -> list[bytes]:
    """Lines as they usually stand, the slow way's one first."""
    data = {"actor/lr": 1e-6, "critic/loss": 0.25, "行/列": 3}
    records = ({"step": start + at, "data": {**data, "critic/loss": at / 7}, **more} for at in range(count))
    return [json.dumps(record, ensure_ascii=False).encode() for record in records]


def mangled() -> st.SearchStrategy[bytes]:
    """A line with a piece of it replaced, lost or doubled."""
    numbers = st.from_regex(rb"-?[0-9]{1,22}(\.[0-9]{1,22})?([eE][-+]?[0-9]{1,3})?", fullmatch=True)
    texts = [
        b"NaN",
        b"null",
        b"true",
        b'"x"',
        b"{}",
        b'"actor/lr": 2, ',
        b'"time": 5, ',
        b"\\u0061",
        b"\xff",
        b" ",
        b"\r",
    ]
    piece = st.one_of(numbers, st.sampled_from(texts), st.binary(max_size=4)).filter(lambda text: b"\n" not in text)
    usual = st.sampled_from([*lines(3, 50), *lines(1, 60, time=1.5e9), *lines(1, 61, nonfinite={"actor/lr": "inf"})])
    places = st.tuples(st.integers(0, 120), st.integers(0, 30))

    def cut(line: bytes, place: tuple[int, int], text: bytes) -> bytes:
        start = min(place[0], len(line))
        return line[:start] + text + line[start + place[1] :]

    def valued(text: bytes) -> bytes:
        return b'{"step": 70, "data": {"critic/loss": %s, "actor/lr": 1}}' % text

    return st.one_of(st.builds(cut, usual, places, st.one_of(st.just(b""), piece)), piece.map(valued))


def test_any_lines_are_read_as_python_reads_them(
    purely: Purely, compiled: Callable[..., tuple[Run, int]], differences: Callable[..., list[str]]
) -> None:
    @given(st.lists(mangled(), min_size=1, max_size=8), st.sampled_from([1 << 20, 300, 61]), st.booleans())
    @settings(max_examples=300, deadline=None)
    def check(odd: list[bytes], size: int, ended: bool) -> None:
        between = [line for at, one in enumerate(odd) for line in (one, *lines(2, 100 + 2 * at))]
        data = b"\n".join([*lines(4), *between]) + b"\n" * ended
        run, rows = compiled(data, size)
        assert rows >= 3 or size < 100
        assert differences(run, purely(data)) == []

    check()


def test_a_file_that_is_cut_at_any_byte(
    purely: Purely, compiled: Callable[..., tuple[Run, int]], differences: Callable[..., list[str]]
) -> None:
    data = b"\n".join([*lines(3), *lines(1, 4, time=1.5e9), *lines(2, 5), b""])
    for end in range(len(data) + 1):
        assert differences(compiled(data[:end])[0], purely(data[:end])) == [], end


def test_pieces_of_any_size(
    purely: Purely, compiled: Callable[..., tuple[Run, int]], differences: Callable[..., list[str]]
) -> None:
    data = b"\n".join([*lines(5), b"odd", *lines(5, 6, time=1.5e9), b""])
    slow = purely(data)
    for size in range(1, 200):
        assert differences(compiled(data, size)[0], slow) == [], size


def test_it_is_left_where_few_lines_are_as_expected(
    monkeypatch: pytest.MonkeyPatch, native: ModuleType, read: Read
) -> None:
    """A key that is always escaped is read by pure Python's quick way, not by the slow way, line by line."""
    record = [json.dumps({"step": step, "data": {"行/列": 0.5}}).encode() for step in range(1, 2000)]
    monkeypatch.setattr(extension, "_looked_up", lambda: (native, "", ""))
    run, quick = read(jsonl.READER, b"\n".join([*record, b""]), 1 << 16)
    assert run.frame.height == 1999
    assert quick > 1900
