"""Trials side by side: each in a process of its own, stopped together."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

PAUSE = 0.5
GRACE = 180.0  # seconds that a stopped trial may take


def run_all(commands: Sequence[Sequence[str]], jobs: int, logs: Path) -> int:
    """Run `klinic` with each list of arguments, `jobs` at a time; output goes to `logs`/<number>.log.

    Gives 0, the worst exit code, or 130 where Ctrl-C or SIGTERM came: what runs is then stopped as Ctrl-C stops it.
    """
    logs.mkdir(parents=True, exist_ok=True)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    running: dict[int, subprocess.Popen[bytes]] = {}
    try:
        return _run(list(enumerate(commands, 1)), jobs, logs, running)
    except KeyboardInterrupt:
        _stop(list(running.values()))
        return 128 + signal.SIGINT
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(
    waiting: list[tuple[int, Sequence[str]]], jobs: int, logs: Path, running: dict[int, subprocess.Popen[bytes]]
) -> int:
    worst = 0
    while waiting or running:
        while waiting and len(running) < jobs:
            number, words = waiting.pop(0)
            running[number] = _start(words, logs / f"{number}.log")
        time.sleep(PAUSE)
        codes = {number: code for number, each in running.items() if (code := each.poll()) is not None}
        for number, code in codes.items():
            del running[number]
            worst = max(worst, code if code >= 0 else 1)
    return worst


def _start(words: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        command = [sys.executable, "-c", "from klinic.diagnostics.cli import main; main()", *words]
        return subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )


def _stop(running: Sequence[subprocess.Popen[bytes]]) -> None:
    for each in running:
        each.send_signal(signal.SIGINT)
    deadline = time.monotonic() + GRACE
    for each in running:
        try:
            each.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            each.kill()
