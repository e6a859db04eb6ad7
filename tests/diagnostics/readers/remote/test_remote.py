"""Recordings behind an address, from servers on this machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from klinic.diagnostics.live.follow import Follower
from klinic.diagnostics.readers import ReadError, open_run, open_runs
from klinic.diagnostics.readers.sources import remote

pytestmark = pytest.mark.slow

ROW = '{"step": %d, "data": {"actor/pg_loss": %r, "critic/score/mean": 0.5}}\n'


def rows(first: int, last: int) -> str:
    return "".join(ROW % (step, step / 7) for step in range(first, last + 1))


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


def test_a_server_without_ranges_sends_a_file_once(
    tmp_path: Path, served: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, sent = rows(1, 200).encode(), []

    def whole(asked: Any) -> tuple[int, bytes, dict[str, str]]:
        sent.append(asked.method)
        return 200, data, {}

    monkeypatch.setattr(remote, "BLOCK", 100)
    assert open_run(f"{served(whole)}/metrics.jsonl").frame.height == 200
    assert sent.count("GET") == 1


@pytest.mark.parametrize(("status", "said"), [(403, "Forbidden"), (500, "Internal Server Error"), (404, "nothing")])
def test_a_refusal_says_why_and_no_query(served: Callable[..., str], status: int, said: str) -> None:
    address = served(lambda _: (status, b"", {}))
    with pytest.raises(ReadError, match=f"^{address}/run.jsonl: {said}") as refused:
        open_run(f"{address}/run.jsonl?token=hunter22")
    assert "hunter22" not in str(refused.value)


def test_hdfs_without_its_libraries_names_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.fs", None)
    with pytest.raises(ReadError, match=r"^hdfs://127\.0\.0\.1:9/x: hdfs:// asks for pyarrow.*webhdfs://NAMENODE:9870"):
        open_run("hdfs://127.0.0.1:9/x")


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


@pytest.mark.filterwarnings("ignore")  # asyncssh leaves a socket to the garbage collector
@pytest.mark.parametrize("store", ["ssh"], indirect=True)
def test_a_host_that_ssh_does_not_know_is_not_trusted(store: Any) -> None:
    store.put("metrics.jsonl", rows(1, 2).encode())
    store.known.write_text("")
    with pytest.raises(ReadError, match=r"not trusted|[Hh]ost key"):
        open_run(f"{store.address}/metrics.jsonl")
