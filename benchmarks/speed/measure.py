"""Times methods in turns (A B C, A B C), each in a process of its own, and takes medians.

Nothing is waited for without an end: each process has a limit, the whole run another, and what is waited for is told.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.methods import Method
from benchmarks.speed.tools import Tool
from benchmarks.speed.wait import Wait, said

Times = tuple[float, float, float, float | None]  # CPU seconds, wall seconds, peak MB, sum of what was read

LONG_S = 60  # a method that took longer is timed once


@dataclass(frozen=True)
class Result:
    """Medians of a method, or why there are none."""

    method: str
    cpu: float = 0.0
    wall: float = 0.0
    peak: float = 0.0
    total: float | None = None
    problem: str = ""


def measured(methods: tuple[Method, ...], path: Path, rounds: int, wait: Wait) -> list[Result]:
    """One result a method."""
    tools = {place: method.tool(wait) for place, method in enumerate(methods)}
    problems = {place: found.problem for place, found in tools.items() if found and found.problem}
    times: dict[int, list[Times]] = {place: [] for place in range(len(methods))}
    for round_ in range(rounds):
        for place, method in enumerate(methods):
            if place in problems or (round_ and (method.once or times[place][-1][1] > LONG_S)):
                continue
            try:
                limit = wait.begin(f"{method.name}, {path.name}, round {round_ + 1} of {rounds}")
                times[place].append(once(method, tools[place], path, limit))
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                problems[place] = said(error)
    return [_result(method, times[place], problems.get(place, "")) for place, method in enumerate(methods)]


def _result(method: Method, found: list[Times], problem: str) -> Result:
    """Medians of the rounds that were run; a problem counts where there was none."""
    if not found:
        return Result(method.name, problem=problem or "not timed")
    cpu, wall, peak = (statistics.median(one[column] for one in found) for column in range(3))  # type: ignore[type-var]
    return Result(method.name, float(cpu or 0), float(wall or 0), float(peak or 0), found[0][3])


def once(method: Method, found: Tool | None, path: Path, limit: float) -> Times:
    """One run, killed after `limit` seconds."""
    env = {**os.environ, **method.env}
    if method.native and found:
        env["PYTHONPATH"] = str(found.packages)
    command = method.command(found, path)
    return _said(command, env, limit) if method.prints else _whole(command, env, limit)


def _said(command: list[str], env: dict[str, str], limit: float) -> Times:
    words = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, check=True, env=env
    ).stdout.split()
    cpu, wall, peak, total = (float(word) for word in words[-4:])
    return cpu, wall, peak, total


def _whole(command: list[str], env: dict[str, str], limit: float) -> Times:
    """A whole program, its output drained: what it costs to read that is not counted."""
    started = time.perf_counter()
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
    )
    block = bytearray(1 << 20)
    with _killed_after(limit, child):
        while child.stdout and child.stdout.readinto(block):  # type: ignore[attr-defined]
            pass
        _, status, used = os.wait4(child.pid, 0)
    wall, child.returncode = time.perf_counter() - started, os.waitstatus_to_exitcode(status)  # Popen need not wait
    if child.stdout:
        child.stdout.close()
    if wall > limit:
        raise subprocess.TimeoutExpired(command, limit)
    if child.returncode < 0 or child.returncode > 2:
        raise ValueError(f"{Path(command[0]).name} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, None


@contextmanager
def _killed_after(limit: float, child: subprocess.Popen[bytes]) -> Iterator[None]:
    """A child that writes nothing and does not end keeps nobody waiting."""
    timer = threading.Timer(limit, child.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
