"""A run's state from its manifest, its last sign of life and its last step."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.run import Happened, ManifestRead, Row, Run, RunBuilder
from klinic.diagnostics.run.state import seconds_per_step, state

HERE = {"status": "running", "pid": os.getpid(), "host": socket.gethostname(), "start": 1000.0}
THERE = {**HERE, "host": "another machine"}


def run(manifest: dict[str, object], *times: float, resumed: float | None = None) -> Run:
    builder = RunBuilder("run", "rundir", canonical)
    builder.add([ManifestRead(manifest)])
    builder.add([Row({"actor/ppo_kl": 0.1}, step, time) for step, time in enumerate(times, 1)])
    builder.add([Happened("resumed", 1, resumed)] if resumed else [])
    return builder.build()


@pytest.mark.parametrize("status", ["finished", "failed", "stopped"])
def test_a_run_that_ended_says_how(status: str) -> None:
    assert state(run({**HERE, "status": status}), now=1e12) == status


def test_a_bare_log_has_no_state() -> None:
    assert state(run({}, 1.0, 2.0)) == "unknown"


def test_a_living_process_with_a_fresh_heartbeat_runs() -> None:
    assert state(run({**HERE, "heartbeat": 1950.0}, 1900.0, 1940.0), now=1960.0) == "running"


def test_a_process_that_is_gone_on_this_host_was_interrupted() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(60)
    assert state(run({**HERE, "pid": gone.pid, "heartbeat": 1950.0}, 1940.0), now=1951.0) == "interrupted"
    assert state(run({**THERE, "pid": gone.pid, "heartbeat": 1950.0}, 1940.0), now=1951.0) == "running"


@pytest.mark.parametrize(
    ("pace", "silence", "expected"),
    [(5, 61, "interrupted"), (5, 59, "running"), (30, 149, "running"), (30, 151, "interrupted")],
)
def test_silence_is_measured_in_steps_once_they_are_long(pace: float, silence: float, expected: str) -> None:
    times = [1000.0 + pace * step for step in range(10)]
    assert state(run({**THERE, "heartbeat": times[-1]}, *times), now=times[-1] + silence) == expected


def test_a_heartbeat_without_steps_is_a_stall() -> None:
    def at(now: float) -> str:
        return state(run({**THERE, "heartbeat": now - 5}, 1010.0, 1020.0, 1030.0), now=now)

    assert at(1030.0 + 299) == "running"
    assert at(1030.0 + 301) == "stalled"


def test_a_long_start_and_a_long_resume_are_no_stall_at_first() -> None:
    assert state(run({**THERE, "heartbeat": 2000.0}), now=2001.0) == "running"
    assert state(run({**THERE, "heartbeat": 2900.0}), now=2901.0) == "stalled"
    again = run({**THERE, "heartbeat": 9000.0}, 1010.0, 1020.0, resumed=8000.0)
    assert state(again, now=9001.0) == "running"


def test_pace_is_that_of_the_last_attempt() -> None:
    builder = RunBuilder("run", "rundir", canonical)
    rows = [(1, 0.0), (2, 100.0), (3, 200.0), (2, 300.0), (3, 302.0), (4, 304.0)]
    builder.add([Row({"actor/ppo_kl": 0.1 + time}, step, time) for step, time in rows])
    assert seconds_per_step(builder.build()) == 2.0
    assert seconds_per_step(run(HERE)) is None


@pytest.mark.parametrize(
    "odd", [{"pid": "x"}, {"pid": -5}, {"pid": 10**30}, {"heartbeat": "soon"}, {"host": None}, {"start": None}]
)
def test_odd_manifests_raise_nothing(odd: dict[str, object]) -> None:
    assert state(run({**HERE, **odd}, 1.0), now=2.0) in ("running", "stalled", "interrupted")
