"""Paths that are no plain file: pipes, devices, loops of links, folders that may not be opened, bombs."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from klinic.diagnostics.files import pipe
from klinic.diagnostics.readers import ReadError, find, open_run, open_runs, reading
from klinic.diagnostics.readers.sources import bytestream, fileblocks
from klinic.diagnostics.readers.sources.bytestream import Decoder

pytestmark = pytest.mark.slow

GOOD = Path(__file__).parents[2] / "data/hostile/plain.log"
LINES = b"step:1 - actor/x:0.5\nstep:2 - actor/x:0.25\n"


def test_a_pipe_without_a_writer_is_told_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "WAIT", 0.05)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReadError, match="a pipe that nobody writes to"):
        open_run(tmp_path / "pipe")


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(GOOD.read_bytes(),), daemon=True)
    writer.start()
    assert open_run(pipe).frame.equals(open_run(GOOD).frame, null_equal=True)
    writer.join(10)


def test_a_writer_that_is_slow_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "WAIT", 0.05)
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)  # opens at once, and keeps the pipe from being silent
    data = GOOD.read_bytes()

    def write() -> None:
        for half in (data[: len(data) // 2], data[len(data) // 2 :]):
            time.sleep(0.3)
            os.write(writer, half)
        os.close(writer)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    assert open_run(tmp_path / "pipe").frame.height == 11
    thread.join(10)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_refused_unread(device: str) -> None:
    with pytest.raises(ReadError, match="a device, no log"):
        open_run(device)


def test_stdin_has_several_names() -> None:
    assert [reading.as_path(name) for name in ("-", "/dev/stdin", "/dev/fd/0")] == [None] * 3


def test_links_in_a_circle_end_the_search(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/up").symlink_to(tmp_path)
    (tmp_path / "a/run.log").write_bytes(LINES)
    (tmp_path / "loop.log").symlink_to(tmp_path / "loop.log")
    assert [run.source.path for run in open_runs(tmp_path)] == [str(tmp_path / "a/run.log")]


def test_a_file_that_may_not_be_opened_is_named_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good.log", "closed.log"):
        (tmp_path / name).write_bytes(LINES)
    _deny(monkeypatch, tmp_path / "closed.log")
    (run,) = open_runs(tmp_path)
    assert run.frame.height == 2
    assert "1 files or folders could not be opened" in " ".join(run.notes)
    assert "closed.log: permission denied" in " ".join(run.notes)
    with pytest.raises(ReadError, match=r"closed\.log: permission denied; check the path"):
        open_runs(tmp_path / "closed.log")


def test_a_folder_that_may_not_be_opened_is_named_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good.log").write_bytes(LINES)
    error = PermissionError(13, "Permission denied", str(tmp_path / "closed"))
    walk = os.walk

    def told(root: Path, onerror: Callable[[OSError], object]) -> object:
        onerror(error)
        return walk(root)

    (tmp_path / "closed").mkdir()
    _deny(monkeypatch, tmp_path / "closed")
    monkeypatch.setattr(find.os, "walk", told)
    (run,) = open_runs(tmp_path)
    assert "could not be opened" in " ".join(run.notes)


def _deny(monkeypatch: pytest.MonkeyPatch, closed: Path) -> None:
    """Opening fails as it does without permission; a test that runs as root may open everything."""
    plain = Path.open

    def opened(path: Path, *args: object, **options: object) -> object:
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", opened)


def test_the_mode_of_a_file_decides_without_root(tmp_path: Path) -> None:
    closed = tmp_path / "closed.log"
    closed.write_bytes(LINES)
    closed.chmod(0)
    assert stat.S_IMODE(closed.stat().st_mode) == 0
    if os.access(closed, os.R_OK):
        pytest.skip("root may read everything")
    with pytest.raises(ReadError, match="permission denied"):
        open_run(closed)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("filling", [b"x" * 2**20, b"\n" * 2**20], ids=["endless line", "empty lines"])
def test_a_bomb_is_unpacked_up_to_a_limit_and_named(
    monkeypatch: pytest.MonkeyPatch, packer: str, filling: bytes
) -> None:
    monkeypatch.setattr(bytestream, "ENDLESS", (2**20, 100))
    monkeypatch.setattr(bytestream, "BOMB", (2**20, 500))
    bomb = PACKERS[packer](LINES + filling * 48)
    decoder, given = Decoder(), 0
    for piece in decoder.pieces(bomb):
        given += len(piece)
    assert given < 40 * 2**20
    assert "unpacks to over" in decoder.at_end()


@pytest.mark.parametrize("packer", PACKERS)
def test_what_stands_before_a_bomb_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packer: str) -> None:
    monkeypatch.setattr(bytestream, "ENDLESS", (2**20, 100))
    (tmp_path / "bomb").write_bytes(PACKERS[packer](LINES + b"x" * 2**23))
    run = open_run(tmp_path / "bomb")
    assert run.frame["actor/x"].to_list() == [0.5, 0.25]
    assert "unpacks to over" in " ".join(run.notes)


@pytest.mark.parametrize("packer", PACKERS)
def test_a_long_log_that_packs_well_is_no_bomb(packer: str) -> None:
    text = b"".join(b"step:%d - actor/x:%d.5 - actor/y:0.123\n" % (at, at % 7) for at in range(20_000))
    decoder = Decoder()
    assert b"".join(decoder.pieces(PACKERS[packer](text))) == text
    assert decoder.at_end() == ""


def test_a_hole_of_a_terabyte_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sparse.log"
    path.write_bytes(LINES)
    with path.open("r+b") as file:
        file.seek(2**40)
        file.write(b"\nstep:3 - actor/x:0.125\n")
        file.truncate(2**41)
    given = []
    with path.open("rb") as file:
        for block, stands_for in fileblocks.blocks(file, 2**41):
            given.append(len(block))
            assert stands_for >= len(block)
    assert sum(given) < 32 * bytestream.BLOCK
    assert open_run(path).frame["actor/x"].to_list() == [0.5, 0.25, 0.125]


def test_of_a_hole_no_more_is_passed_over_than_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "sparse.log"
    path.write_bytes(LINES)
    os.truncate(path, 2**40)
    limit = 50 * bytestream.BLOCK + 1000
    with path.open("rb") as file:
        found = list(fileblocks.blocks(file, limit))
        assert file.tell() == limit == sum(stands_for for _, stands_for in found)
    assert all((stands_for - len(block)) % bytestream.BLOCK == 0 for block, stands_for in found)
    assert any(stands_for > len(block) for block, stands_for in found)


@pytest.mark.parametrize("folder", ["/sys/kernel", "/proc/self", "/proc"])
def test_what_the_kernel_makes_up_is_not_searched(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find.os, "walk", lambda *_, **__: pytest.fail("searched"))
    with pytest.raises(ReadError, match="files that the kernel makes up"):
        open_runs(folder)


def test_nor_is_it_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.log", "proc/b.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(LINES)
    monkeypatch.setattr(find, "KERNELS", (tmp_path / "proc",))
    assert [run.source.path for run in open_runs(tmp_path)] == [str(tmp_path / "a.log")]


@pytest.mark.parametrize(
    ("name", "why"), [("run.json", "more than 64 mib"), ("launch.json", "a pipe that nobody writes")]
)
def test_a_manifest_that_never_ends_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    monkeypatch.setattr(pipe, "WAIT", 0.05)
    for file, text in (("metrics.jsonl", '{"step": 1, "actor/x": 0.5}\n'), ("run.json", "{}"), ("launch.json", "{}")):
        (tmp_path / file).write_text(text)
    if name == "run.json":
        os.truncate(tmp_path / name, 2**40)
    else:
        (tmp_path / name).unlink()
        os.mkfifo(tmp_path / name)
    with pytest.raises(ReadError, match=rf"{name}: {why}"):
        open_runs(tmp_path)
