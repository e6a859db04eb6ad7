"""The run directory's writer: whole lines, no lost line, one writer, errors in one line."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klinic.trainer.stream import InUseError, RunDirectory, StreamError
from klinic.trainer.stream.encode import step_line
from klinic.trainer.stream.lines import LineFile


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class Scalar:
    """A number in the way of a tensor: known by float() and item() only."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value

    def item(self) -> float:
        return self.value


def test_numbers_that_json_lacks_are_null_and_named(tmp_path: Path) -> None:
    data = {
        "a": math.nan,
        "b": -math.inf,
        "c": np.float32("inf"),
        "d": Scalar(math.nan),
        "e": 1.0,
        "f": None,
        "g": Scalar(2.5),
    }
    with RunDirectory(tmp_path) as run:
        run.write_step(1, data)
    (line,) = lines(tmp_path / "metrics.jsonl")
    assert line["nonfinite"] == {"a": "nan", "b": "-inf", "c": "inf", "d": "nan"}
    assert line["data"] == dict.fromkeys("abcd") | {"e": 1.0, "f": None, "g": 2.5}


def test_a_finite_step_has_no_nonfinite_key(tmp_path: Path) -> None:
    with RunDirectory(tmp_path) as run:
        run.write_step(1, {"a": 1})
    assert set(lines(tmp_path / "metrics.jsonl")[0]) == {"step", "time", "data"}


@given(st.dictionaries(st.text(max_size=20), st.floats() | st.integers() | st.text(max_size=20)))
def test_any_metrics_give_exactly_one_line_of_json(data: dict[str, Any]) -> None:
    blob = step_line(3, data, 1.0)
    assert blob.endswith(b"\n") and blob.count(b"\n") == 1
    record = json.loads(blob)
    for name, value in data.items():
        read = record["data"][name]
        if isinstance(value, float) and not math.isfinite(value):
            assert read is None
        elif isinstance(value, float | int):
            assert read == pytest.approx(value)


def test_a_step_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    real = os.write

    def spy(fd: int, blob: bytes) -> int:
        written.append(bytes(blob))
        return real(fd, blob)

    with RunDirectory(tmp_path) as run:
        monkeypatch.setattr(os, "write", spy)
        run.write_step(1, {f"m{i}": float(i) for i in range(200)})
        monkeypatch.undo()
    assert [blob.count(b"\n") for blob in written] == [1]


def test_resuming_appends_and_closes_off_a_torn_line(tmp_path: Path) -> None:
    with RunDirectory.create(tmp_path) as run:
        run.write_step(1, {"a": 1.0})
    whole = (tmp_path / "metrics.jsonl").read_bytes()
    (tmp_path / "metrics.jsonl").write_bytes(whole + b'{"step":2,"time":1.0,"da')
    with RunDirectory(tmp_path) as run:
        assert run.resumed
        run.write_step(2, {"a": 2.0})
    text = (tmp_path / "metrics.jsonl").read_bytes()
    assert text.startswith(whole)
    _, torn, last = text.splitlines()
    assert torn == b'{"step":2,"time":1.0,"da'
    assert json.loads(last)["step"] == 2


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_a_cut_at_any_byte_costs_at_most_the_line_being_written(tmp_path: Path, cut: int) -> None:
    with RunDirectory(tmp_path) as run:
        for step in range(1, 4):
            run.write_step(step, {"a": float(step)}, time=1.0)
    blob = (tmp_path / "metrics.jsonl").read_bytes()
    kept = blob[: len(blob) - cut]
    (tmp_path / "metrics.jsonl").write_bytes(kept)
    with RunDirectory(tmp_path) as run:
        run.write_step(9, {"a": 9.0})
    steps = []
    for line in (tmp_path / "metrics.jsonl").read_bytes().splitlines():
        try:
            steps.append(json.loads(line)["step"])
        except ValueError:
            steps.append(None)
    assert [step for step in steps if step] == [*range(1, kept.count(b"\n") + 1), 9]
    assert steps.count(None) <= 1


def test_a_second_writer_is_refused_with_pid_and_host(tmp_path: Path) -> None:
    with RunDirectory(tmp_path), pytest.raises(InUseError) as refused:
        RunDirectory(tmp_path)
    assert str(os.getpid()) in str(refused.value) and socket.gethostname() in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_directory_is_free_again_once_its_writer_closed_it(tmp_path: Path) -> None:
    RunDirectory(tmp_path).close()
    with RunDirectory(tmp_path) as run:
        assert not run.resumed


WRITER = textwrap.dedent(
    """
    import sys, time
    from klinic.trainer.stream import RunDirectory
    run = RunDirectory.create(sys.argv[1])
    for step in range(1, 10**9):
        run.write_step(step, {f"metric/{i}": step + i / 7 for i in range(120)})
        if step == 20:
            print("ready", flush=True)
    """
)


def test_sigkill_in_mid_write_loses_no_finished_line_and_frees_the_lock(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        with pytest.raises(InUseError, match=str(child.pid)):
            RunDirectory(tmp_path)
        time.sleep(0.05)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait(timeout=20)
        child.stdout.close()  # type: ignore[union-attr]
    blob = (tmp_path / "metrics.jsonl").read_bytes()
    whole = [json.loads(line) for line in blob.split(b"\n")[:-1]]
    assert [line["step"] for line in whole] == list(range(1, len(whole) + 1)) and len(whole) >= 20
    with RunDirectory(tmp_path) as run:
        assert run.resumed
        assert run.manifest["status"] == "running" and run.manifest["pid"] == child.pid


def test_a_fresh_lock_of_another_host_is_respected_and_an_old_one_taken(tmp_path: Path) -> None:
    (tmp_path / "control").mkdir()
    lock = tmp_path / "control" / "lock"
    lock.write_text('{"pid": 1, "host": "elsewhere"}')
    with pytest.raises(InUseError, match="elsewhere"):
        RunDirectory(tmp_path)
    os.utime(lock, (time.time() - 3600, time.time() - 3600))
    RunDirectory(tmp_path).close()


def test_a_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    file = LineFile(Path("/dev/full"))
    with pytest.raises(StreamError, match=r"cannot write /dev/full: No space left on device; free space"):
        file.append(b"{}\n")
    file.close()


def test_a_directory_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StreamError, match="Not a directory"):
        RunDirectory(tmp_path / "file" / "run")
    with pytest.raises(StreamError, match="is no run directory"):
        RunDirectory.open(tmp_path / "absent")
