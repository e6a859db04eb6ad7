"""Work spread over processes: results in order, and one that dies or hangs costs its own piece of work only.

Processes are spawned (polars has threads, which a fork does not survive) and killed whenever the caller leaves, by
Ctrl-C too. Each has one piece of work at a time, so that it is known what a dead one was at.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

AHEAD = 8  # pieces a process may be ahead of the one that is waited for: more would pile up results
PAYS = 24  # small runs, from which on starting processes takes less time than it saves
LIMIT_S = 900.0  # for one piece
GRACE_S = 120.0  # for a process to start, besides the time for its work


@dataclass(frozen=True)
class WorkerDied:
    """What came of a piece of work whose process ended or was ended; why: in words."""

    why: str


@dataclass
class _Worker:
    process: Any
    line: Connection
    at: int = -1
    until: float = 0.0


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(
    work: Callable[[Any], Any], pieces: Sequence[Any], *, jobs: int | None, weight: float, limit_s: float = LIMIT_S
) -> Iterator[Any]:
    """`work(piece)` of every piece, in order, on several cores where that pays; `Died` where one did not come back.

    jobs: processes at most, never more than cores, None for one a core. weight: of all pieces together, in small runs.
    """
    count = min(jobs or cores(), cores(), len(pieces))
    if count > 1 and weight >= PAYS:
        yield from spread(work, pieces, count, limit_s)
    else:
        yield from map(work, pieces)


def spread(work: Callable[[Any], Any], pieces: Sequence[Any], count: int, limit_s: float) -> Iterator[Any]:
    """`work(piece)` of every piece, in order, on `count` processes; `Died` where that did not come back.

    work: a function of a module; what it raises is raised here. Pieces and results are pickled. limit_s: for one.
    """
    crew = _Processes(work, pieces, limit_s)
    try:
        yield from crew.results(min(count, len(pieces)))
    finally:
        crew.end()


@dataclass
class _Processes:
    """The processes and what they are at. done: results that came before their turn. next: the piece to give out."""

    work: Callable[[Any], Any]
    pieces: Sequence[Any]
    limit_s: float
    workers: list[_Worker] = field(default_factory=list)
    done: dict[int, Any] = field(default_factory=dict)
    next: int = 0

    def results(self, count: int) -> Iterator[Any]:
        """The results in order."""
        self.workers = [self._hired() for _ in range(count)]
        for index in range(len(self.pieces)):
            while index not in self.done:
                self._hand_out(index + AHEAD * count)
                self._collect()
            yield self.done.pop(index)

    def _hired(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self.work.__module__, self.work.__name__), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _hand_out(self, end: int) -> None:
        for worker in self.workers:
            if worker.at < 0 and self.next < min(end, len(self.pieces)):
                worker.at, worker.until = self.next, time.monotonic() + self.limit_s + GRACE_S
                self.next += 1
                with suppress(OSError):  # it is gone: what it was given is told when its line is read
                    worker.line.send(self.pieces[worker.at])

    def _collect(self) -> None:
        """Wait for results, deaths, or the time of the slowest."""
        busy = {worker.line: worker for worker in self.workers if worker.at >= 0}
        first = min(worker.until for worker in busy.values())
        for line in wait(list(busy), max(first - time.monotonic(), 0.0)):
            worker = busy[line]  # type: ignore[index]
            try:
                came, worker.at, at = worker.line.recv(), -1, worker.at
            except (EOFError, OSError):
                self._replace(worker, "")
                continue
            if isinstance(came, Exception):
                raise came
            self.done[at] = came
        for worker in self.workers:
            if worker.at >= 0 and time.monotonic() > worker.until:
                self._replace(worker, f"gave no answer for {self.limit_s:.0f} s and was ended")

    def _replace(self, worker: _Worker, why: str) -> None:
        """Note what became of the work, and put a new process in the place of this one."""
        _end(worker)
        code = worker.process.exitcode or 0
        how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        self.done[worker.at] = WorkerDied(f"the process that was at it {why or how}")
        self.workers[self.workers.index(worker)] = self._hired()

    def end(self) -> None:
        """No process is left afterwards."""
        for worker in self.workers:
            worker.process.kill()
        for worker in self.workers:
            _end(worker)


def _end(worker: _Worker) -> None:
    """The process is dead and waited for afterwards."""
    worker.line.close()
    worker.process.join(0.2)  # one that died by itself has its own status
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join(10)


def _serve(line: Connection, module: str, name: str) -> None:
    """In the other process: work until nobody asks any more. The work is imported here, once its threads are told."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all: the caller ends this process
    os.environ["POLARS_MAX_THREADS"] = "1"  # there is a process for each core already
    work = getattr(importlib.import_module(module), name)
    with suppress(EOFError, OSError):
        while True:
            line.send(_tried(work, line.recv()))


def _tried(work: Callable[[Any], Any], piece: Any) -> Any:
    try:
        return work(piece)
    except Exception as error:
        return error
