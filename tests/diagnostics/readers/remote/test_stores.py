"""What stores of five kinds hold is read and followed alike; what goes wrong with them is one line, in time."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from klinic.diagnostics.live.follow import Follower
from klinic.diagnostics.readers import ReadError, open_run, open_runs
from klinic.diagnostics.readers.sources import asking, remote

# moto uses what Python will drop; s3fs, gcsfs and asyncssh leave sockets and loops to the garbage collector.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ROW = '{"step": %d, "data": {"actor/pg_loss": %r, "critic/score/mean": 0.5}}\n'
KLINIC = "from klinic.diagnostics.cli import main; main()"


def rows(first: int, last: int) -> bytes:
    return "".join(ROW % (step, step / 7) for step in range(first, last + 1)).encode()


def test_a_file(store: Any) -> None:
    store.put("a/metrics.jsonl", rows(1, 30))
    run = open_run(f"{store.address}/a/metrics.jsonl")
    assert run.frame["step"].to_list() == list(range(1, 31))
    assert run.source.path == f"{store.address}/a/metrics.jsonl"


def test_a_folder_without_weights_and_checkpoints(store: Any) -> None:
    for name, last in {"a": 40, "b": 10, "a/global_step_5": 2}.items():
        store.put(f"{name}/metrics.jsonl", rows(1, last))
    store.put("a/model.safetensors", b"x" * 1000)
    found = {run.source.path: run.frame.height for run in open_runs(store.address)}
    assert found == {f"{store.address}/a/metrics.jsonl": 40, f"{store.address}/b/metrics.jsonl": 10}
    copied = {path.name for path in remote.local(store.address).rglob("*") if path.is_file()}
    assert copied == {"metrics.jsonl"}


def test_what_grows_is_followed_by_its_new_bytes(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("metrics.jsonl", rows(1, 500))
    fetched: list[int] = []
    asked_for = remote.Mirror._asked_for
    monkeypatch.setattr(
        remote.Mirror, "_asked_for", lambda *a, **k: fetched.append(len(data := asked_for(*a, **k))) or data
    )
    with Follower(f"{store.address}/metrics.jsonl") as follower:
        first = follower.poll()
        assert first is not None
        assert first.frame.height == 500
        assert follower.poll() is None
        fetched.clear()
        store.put("metrics.jsonl", rows(1, 510))
        grown = follower.poll()
        assert grown is not None
        assert grown.frame["step"].to_list() == list(range(1, 511))
        assert sum(fetched) == len(rows(501, 510)) + remote.OVERLAP
        store.put("metrics.jsonl", rows(1, 5))
        replaced = follower.poll()
        assert replaced is not None
        assert replaced.frame["step"].to_list()[-5:] == [1, 2, 3, 4, 5]


def test_what_vanished_is_told_and_read_again_when_it_is_back(store: Any) -> None:
    address = f"{store.address}/a/metrics.jsonl"
    store.put("a/metrics.jsonl", rows(1, 30))
    store.put("b/metrics.jsonl", rows(1, 20))
    with Follower(address) as follower:
        assert follower.poll() is not None
        assert {run.frame.height for run in open_runs(store.address)} == {30, 20}
        store.drop("a/metrics.jsonl")
        assert [run.frame.height for run in open_runs(store.address)] == [20]
        with pytest.raises(ReadError, match=f"^{re.escape(address)}: nothing there; check the address$"):
            follower.poll()
        store.put("a/metrics.jsonl", rows(1, 31))
        back = follower.poll()
    assert back is not None
    assert back.frame["step"].max() == 31


@pytest.mark.parametrize("name", ["a/metrics.jsonl", "a"])
def test_what_nobody_may_read(store: Any, name: str) -> None:
    store.put("a/metrics.jsonl", rows(1, 30))
    store.forbid()
    with pytest.raises(
        ReadError, match=r"(?i)^\S+: .*(forbidden|permission).*; check the address and who may read it$"
    ):
        open_runs(f"{store.address}/{name}")


def test_no_server(store: Any, forget: Callable[[], None]) -> None:
    with socket.socket() as taken:  # bound and not listening: a port where nobody is
        taken.bind(("127.0.0.1", 0))
        address = store.at(f"127.0.0.1:{taken.getsockname()[1]}")
        forget()
        with pytest.raises(ReadError, match=r"(?i)^\S+: .*(connect|refused).*; check the address") as caught:
            open_run(f"{address}/a/metrics.jsonl")
    assert "\n" not in str(caught.value)


def test_a_server_that_says_nothing_is_not_waited_for_without_end(
    store: Any, forget: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ANSWER_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = store.at(f"127.0.0.1:{silent.getsockname()[1]}")
        forget()
        for _ in range(2):
            began = time.monotonic()
            with pytest.raises(ReadError, match=r"no answer in 0\.5 s; check the address and the network"):
                open_run(f"{address}/a/metrics.jsonl")
            assert time.monotonic() - began < 20


def test_the_command_says_one_line_and_nothing_of_its_libraries(store: Any) -> None:
    store.put("a/metrics.jsonl", rows(1, 30))
    for name, code, lines in (("a", 0, 0), ("none", 2, 1)):
        command = [sys.executable, "-c", KLINIC, "diagnose", f"{store.address}/{name}", "--format", "list"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (code, lines), done.stderr
