"""Recordings behind an address, from servers on this machine."""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from klinic.diagnostics.live.follow import Follower
from klinic.diagnostics.readers import ReadError, open_run, open_runs, remote

pytestmark = pytest.mark.slow

# moto uses what Python will drop.
LEFT_OPEN = pytest.mark.filterwarnings("ignore")
ROW = '{"step": %d, "data": {"actor/pg_loss": %r, "critic/score/mean": 0.5}}\n'


def rows(first: int, last: int) -> str:
    return "".join(ROW % (step, step / 7) for step in range(first, last + 1))


@pytest.fixture(autouse=True)
def anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(remote, "EVERY_S", 0.0)
    remote._mirror.cache_clear()
    yield
    remote._mirror.cache_clear()
    with warnings.catch_warnings():  # s3fs, moto and asyncssh leave sockets and loops to the garbage collector
        warnings.simplefilter("ignore")
        if fsspec := sys.modules.get("fsspec"):
            for name in ("s3", "ssh"):
                with suppress(ImportError):
                    fsspec.get_filesystem_class(name).clear_instance_cache()
        gc.collect()


class Ranged(SimpleHTTPRequestHandler):
    """Python's own server, with ranges, and a note of each request."""

    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        type(self).asked.append(wanted)
        place = Path(self.translate_path(self.path))
        if not wanted.startswith("bytes=") or not place.is_file():
            super().do_GET()
            return
        start, _, end = wanted.removeprefix("bytes=").partition("-")
        data = place.read_bytes()[int(start) : int(end) + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Not into the test's output."""


@pytest.fixture(params=[SimpleHTTPRequestHandler, Ranged], ids=["whole files only", "ranges"])
def http(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(request.param, "log_message", lambda *_: None)
    Ranged.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(request.param, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", tmp_path
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_a_file_over_http(http: tuple[str, Path]) -> None:
    address, folder = http
    (folder / "metrics.jsonl").write_text(rows(1, 30))
    run = open_run(f"{address}/metrics.jsonl?token=secret")
    assert run.frame["step"].to_list() == list(range(1, 31))
    assert run.source.path == f"{address}/metrics.jsonl", "no query in what is said"


def test_a_folder_over_http(http: tuple[str, Path]) -> None:
    address, folder = http
    for name in ("a", "b"):
        (folder / "runs" / name).mkdir(parents=True)
        (folder / "runs" / name / "metrics.jsonl").write_text(rows(1, 20))
        (folder / "runs" / name / "model.safetensors").write_bytes(b"x" * 1000)
    found = open_runs(f"{address}/runs/")
    assert sorted(run.source.path for run in found) == [f"{address}/runs/{name}/metrics.jsonl" for name in "ab"]
    assert all(run.frame.height == 20 for run in found)


def test_what_grows_is_followed(http: tuple[str, Path]) -> None:
    address, folder = http
    log = folder / "metrics.jsonl"
    log.write_text(rows(1, 2000))
    with Follower(f"{address}/metrics.jsonl") as follower:
        first = follower.poll()
        assert first is not None
        assert first.frame.height == 2000
        assert follower.poll() is None
        Ranged.asked.clear()
        with log.open("a") as out:
            out.write(rows(2001, 2010))
        grown = follower.poll()
        assert grown is not None
        assert grown.frame["step"].to_list() == list(range(1, 2011))
        assert all(wanted.startswith("bytes=") for wanted in Ranged.asked), "the new bytes only"
        log.write_text(rows(1, 5))
        replaced = follower.poll()
        assert replaced is not None
        assert replaced.frame["step"].to_list()[-5:] == [1, 2, 3, 4, 5]


def test_what_is_not_there_is_one_line(http: tuple[str, Path]) -> None:
    address, _ = http
    with pytest.raises(ReadError, match=r"^http://127\.0\.0\.1:\d+/gone\.jsonl: nothing there; check the address$"):
        open_run(f"{address}/gone.jsonl")


def test_a_password_in_an_address_is_refused_and_not_said() -> None:
    with pytest.raises(ReadError, match="a password in the address is not taken") as refused:
        open_run("ssh://me:hunter22@host/run.log")
    assert "hunter22" not in str(refused.value)
    assert "me" not in str(refused.value).split("/")[2]


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ReadError, match=r"s3://bucket/run: .*pip install 'klinic\[remote\]'"):
        open_run("s3://bucket/run")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    server.start()
    _, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    import fsspec

    fsspec.filesystem("s3").mkdir("runs")
    yield "s3://runs"
    server.stop()


@LEFT_OPEN
def test_a_bucket_of_s3(bucket: str) -> None:
    import fsspec

    store = fsspec.filesystem("s3")
    store.pipe_file("runs/a/metrics.jsonl", rows(1, 40).encode())
    store.pipe_file("runs/a/global_step_5/notes.jsonl", rows(1, 2).encode())
    store.pipe_file("runs/b/metrics.jsonl", rows(1, 10).encode())
    assert {run.source.path: run.frame.height for run in open_runs(bucket)} == {
        "s3://runs/a/metrics.jsonl": 40,
        "s3://runs/b/metrics.jsonl": 10,
    }
    store.pipe_file("runs/a/metrics.jsonl", rows(1, 60).encode())
    assert {run.frame.height for run in open_runs(bucket)} == {60, 10}
    with pytest.raises(ReadError, match="s3://runs/none"):
        open_runs("s3://runs/none")


@LEFT_OPEN
def test_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncssh = pytest.importorskip("asyncssh")
    pytest.importorskip("sshfs")
    import asyncio

    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    key, host = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(home / ".ssh/id_ed25519")
    (tmp_path / "authorized").write_bytes(key.export_public_key())
    log = tmp_path / "metrics.jsonl"
    log.write_text(rows(1, 25))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def listening() -> object:
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_host_keys=[host],
            authorized_client_keys=str(tmp_path / "authorized"),
            sftp_factory=True,
        )

    server = asyncio.run_coroutine_threadsafe(listening(), loop).result(20)
    port = server.get_port()  # type: ignore[attr-defined]
    public = host.export_public_key().decode().strip()
    (home / ".ssh/known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    try:
        address = f"ssh://{os.environ.get('USER') or 'someone'}@127.0.0.1:{port}{log}"
        run = open_run(address)
        assert run.frame.height == 25
        assert run.source.path == f"ssh://127.0.0.1:{port}{log}"
        (home / ".ssh/known_hosts").write_text("")
        remote._mirror.cache_clear()
        import fsspec

        fsspec.get_filesystem_class("ssh").clear_instance_cache()
        with pytest.raises(ReadError, match=r"not trusted|[Hh]ost key"):
            open_run(address)
    finally:
        loop.call_soon_threadsafe(server.close)  # type: ignore[attr-defined]
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
