"""Threads for the compiled part, which works without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

MAX_THREADS = 4
Given = TypeVar("Given")
Found = TypeVar("Found")


@cache
def cores() -> int:
    """How many threads pay."""
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, MAX_THREADS)


def parted(start: int, end: int, few: int) -> list[tuple[int, int]]:
    """The range parted for as many threads as pay: fewer than `few` are not worth a second one."""
    count = max(1, min((end - start) // few, cores()))
    bounds = [start + (end - start) * part // count for part in range(count + 1)]
    return list(pairwise(bounds))


def each(function: Callable[[Given], Found], parts: list[Given]) -> list[Found]:
    """The function of each part, in order. Not for work that is in a thread of these already."""
    return list(_pool().map(function, parts)) if len(parts) > 1 else [function(parts[0])]


def begun(function: Callable[..., Found], *given: Any) -> Future[Found]:
    """The function, begun by a thread that is free."""
    return _pool().submit(function, *given)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="klinic-native")
