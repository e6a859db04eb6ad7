"""Times methods in turns (A B C, A B C), each in a process of its own, and takes medians.

Nothing is waited for without an end: each process has a limit, the whole run another, and what is waited for is told.
"""

from __future__ import annotations

import os
import platform
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.speed.methods import Method
from benchmarks.speed.store import Round, Store
from benchmarks.speed.table import Result, result
from benchmarks.speed.tools import Tool
from benchmarks.speed.wait import Wait, said

Times = tuple[float, float, float, float | None]  # CPU seconds, wall seconds, peak MB, sum of what was read

# numpy, once imported, lets a thread for each core more turn for some 50 ms, which would count as what is timed next.
QUIET = {"OPENBLAS_NUM_THREADS": "1"}
LONG_S = 60  # a method that took longer is timed once


@dataclass(frozen=True)
class Work:
    """A kind of work on one file. megabytes: of the file."""

    name: str
    steps: int
    megabytes: float
    path: Path


def measured(methods: tuple[Method, ...], work: Work, rounds: int, wait: Wait, store: Store) -> list[Result]:
    """One result a method, of the rounds in the store and those that it lacks; these are kept there as they end."""
    tools = {method.name: method.tool(wait) for method in methods}
    problems = {name: found.problem for name, found in tools.items() if found and found.problem}
    for number in range(rounds):
        for method in methods:
            done = store.done(work.name, work.steps, method.name)
            if method.name in problems or len(done) > number or (done and _enough(method, done)):
                continue
            try:
                limit = wait.begin(f"{method.name}, {work.path.name}, round {number + 1} of {rounds}")
            except TimeoutError as error:
                problems[method.name] = said(error)
                continue
            store.add(_timed(method, tools[method.name], work, limit, store.code))
    names = [method.name for method in methods]
    return [result(name, store.done(work.name, work.steps, name), problems.get(name, "")) for name in names]


def _enough(method: Method, done: list[Round]) -> bool:
    """Whether one round must do: it takes long, or came to nothing."""
    return method.once or bool(done[-1].problem) or done[-1].wall > LONG_S


def _timed(method: Method, found: Tool | None, work: Work, limit: float, code: str) -> Round:
    load, day = os.getloadavg()[0], datetime.now(UTC).date().isoformat()
    here = {"work": work.name, "steps": work.steps, "megabytes": work.megabytes, "machine": machine()}
    try:
        cpu, wall, peak, total = once(method, found, work.path, limit)
        problem = ""
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        cpu = wall = peak = 0.0
        total, problem = None, said(error)
    return Round(method.name, cpu, wall, peak, total, problem, **here, code=code, load=load, day=day)


def machine() -> str:
    """Where this was measured, in words."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}"


def once(method: Method, found: Tool | None, path: Path, limit: float) -> Times:
    """One run, killed after `limit` seconds."""
    env = {**os.environ, **QUIET, **method.env}
    if method.native and found:
        env["PYTHONPATH"] = str(found.packages)
    if method.made is not None:
        path = _made(method.made(found, path), env, limit)
    command = method.command(found, path)
    return _said(command, env, limit) if method.prints else _whole(command, env, limit)


def _made(command: list[str], env: dict[str, str], limit: float) -> Path:
    """The file in the form that a method wants, made before it is timed."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, check=True, env=env
    )
    return Path(done.stdout.splitlines()[-1])


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
