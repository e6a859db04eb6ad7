"""Times methods in turns (A B C, A B C), each in a process of its own, and takes medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.methods import Method
from benchmarks.speed.tools import Tool

LIMIT_S = 900


@dataclass(frozen=True)
class Result:
    """Medians of a method, or why there are none."""

    method: str
    cpu: float = 0.0
    wall: float = 0.0
    peak: float = 0.0
    total: float | None = None
    problem: str = ""


def measured(methods: tuple[Method, ...], path: Path, rounds: int) -> list[Result]:
    """One result a method."""
    tools = {place: method.tool() for place, method in enumerate(methods)}
    problems = {place: found.problem for place, found in tools.items() if found and found.problem}
    times: dict[int, list[tuple[float, float, float, float | None]]] = {place: [] for place in range(len(methods))}
    for round_ in range(rounds):
        for place, method in enumerate(methods):
            if place in problems or (method.once and round_):
                continue
            try:
                times[place].append(once(method, tools[place], path))
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                words = str(getattr(error, "stderr", "") or error).strip().splitlines()
                problems[place] = f"failed: {words[-1][:120] if words else type(error).__name__}"
    return [_result(method, times[place], problems.get(place, "")) for place, method in enumerate(methods)]


def _result(method: Method, found: list[tuple[float, float, float, float | None]], problem: str) -> Result:
    if problem or not found:
        return Result(method.name, problem=problem or "not timed")
    cpu, wall, peak = (statistics.median(one[column] for one in found) for column in range(3))  # type: ignore[type-var]
    return Result(method.name, float(cpu or 0), float(wall or 0), float(peak or 0), found[0][3])


def once(method: Method, found: Tool | None, path: Path) -> tuple[float, float, float, float | None]:
    """(CPU seconds, wall seconds, peak MB, sum of what was read) of one run."""
    env = {**os.environ, **method.env}
    if method.native and found:
        env["PYTHONPATH"] = str(found.packages)
    command = method.command(found, path)
    return _said(command, env) if method.prints else _whole(command, env)


def _said(command: list[str], env: dict[str, str]) -> tuple[float, float, float, float | None]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True, env=env)
    cpu, wall, peak, total = (float(word) for word in done.stdout.split()[-4:])
    return cpu, wall, peak, total


def _whole(command: list[str], env: dict[str, str]) -> tuple[float, float, float, float | None]:
    """A whole program, its output drained: what it costs to read that is not counted."""
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    block = bytearray(1 << 20)
    while child.stdout and child.stdout.readinto(block):  # type: ignore[attr-defined]
        if time.perf_counter() - started > LIMIT_S:
            child.kill()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # Popen need not wait for it any more
    if child.stdout:
        child.stdout.close()
    if child.returncode < 0 or child.returncode > 2:
        raise ValueError(f"{Path(command[0]).name} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - started, used.ru_maxrss / 1024, None
