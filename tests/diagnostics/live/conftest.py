"""Looks at recordings, row by row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from klinic.diagnostics.live.follow import Follower
from klinic.diagnostics.live.judging import LiveJudge
from klinic.diagnostics.live.look import Look, Looker
from klinic.diagnostics.readers import open_run

SAMPLES = Path(__file__).resolve().parents[3] / "sample_logs"


@pytest.fixture(scope="session")
def walk() -> Callable[[str], list[Look]]:
    """Looks at a recording after each of its rows, a minute apart."""
    kept: dict[str, list[Look]] = {}

    def looks(name: str) -> list[Look]:
        if name not in kept:
            run, looker = open_run(SAMPLES / name), Looker(LiveJudge())
            found = [looker.look(run.head(rows), 60.0 * rows) for rows in range(1, run.frame.height + 1)]
            kept[name] = [look for look in found if look is not None]
        return kept[name]

    return looks


@pytest.fixture(scope="session")
def samples() -> Path:
    """The recordings."""
    return SAMPLES


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
