"""Runs that grow while a test looks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from klinic.diagnostics.live.follow import Follower


@pytest.fixture(scope="session")
def line() -> Callable[..., bytes]:
    """A line of a metric stream: its step, a score, and what else is given."""

    def written(step: int, **data: float) -> bytes:
        return json.dumps({"step": step, "data": {"critic/score/mean": 0.5, **data}}).encode() + b"\n"

    return written


@pytest.fixture
def follow() -> Iterator[Callable[[Path], Follower]]:
    """Followers of paths; each lets go of its files when the test has ended."""
    opened: list[Follower] = []

    def start(path: Path) -> Follower:
        opened.append(Follower(path))
        return opened[-1]

    yield start
    for follower in opened:
        follower.close()
