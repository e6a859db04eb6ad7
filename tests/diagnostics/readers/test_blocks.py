"""A file is read in blocks that end with lines, ahead where it is large; its bytes are all there, in order."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from klinic.diagnostics.readers.fast import threads
from klinic.diagnostics.readers.sources import fileblocks
from klinic.diagnostics.readers.verl import compiledpieces


@pytest.fixture(params=["at once", "ahead"])
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fileblocks, "BLOCK", 4096)
    monkeypatch.setattr(fileblocks, "LOOK_AHEAD", 300)
    monkeypatch.setattr(fileblocks, "LARGE", 1 if request.param == "ahead" else 1 << 60)


@pytest.mark.usefixtures("small_blocks")
def test_blocks_end_with_lines_where_these_are_short(tmp_path: Path) -> None:
    luck = random.Random(1)
    lines = b"".join(b"x" * luck.randrange(250) + b"\n" for _ in range(500))
    long = b"y" * 20_000
    path = tmp_path / "a.log"
    path.write_bytes(lines + long + b"\n" + lines + b"the rest")
    size = path.stat().st_size
    with path.open("rb") as stream:
        found = [block for block, _ in fileblocks.blocks(stream, size)]
    assert b"".join(found) == path.read_bytes()
    short = [block for block in found[:-1] if b"y" not in block]
    assert len(short) > 20
    assert all(block.endswith(b"\n") and len(block) >= 4096 for block in short)


@pytest.mark.usefixtures("small_blocks")
def test_no_more_than_the_limit_is_read_and_errors_arrive(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"12345678\n" * 5000)
    with path.open("rb") as stream:
        assert sum(length for _, length in fileblocks.blocks(stream, 10_007)) == 10_007
        assert stream.tell() == 10_007
        assert len(next(fileblocks.blocks(stream, 10_007))[0]) >= 4096  # and let go of: nobody waits

    class Broken(io.BufferedReader):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    with Broken(io.FileIO(path)) as stream, pytest.raises(OSError, match="Input/output"):
        list(fileblocks.blocks(stream, 10_007))


@pytest.mark.parametrize("cores", [1, 2, 3, 4])
def test_lines_sorted_in_parts_are_those_sorted_at_once(
    monkeypatch: pytest.MonkeyPatch, native: object, cores: int
) -> None:
    luck = random.Random(2)
    words = [b"a line", b"", b"step:%d - a/b:0.5", b"another %d", b"x" * 90]
    text = b"".join(luck.choice(words).replace(b"%d", b"%d" % at) + b"\n" for at in range(3000))
    dull = compiledpieces.Dull({b"a line": b"", b"another ": b"", b"": b""})
    whole = [array.tolist() for array in compiledpieces._sorted(native, text, dull, [(0, len(text))])]
    monkeypatch.setattr(threads, "cores", lambda: cores)
    parts = threads.parted(0, len(text), 64)
    assert len(parts) == cores
    assert [array.tolist() for array in compiledpieces._sorted(native, text, dull, parts)] == whole
    assert len(whole[2]) > 400
    assert all(text[start:body].endswith(b"step:") for start, body, _, _ in whole[2])
