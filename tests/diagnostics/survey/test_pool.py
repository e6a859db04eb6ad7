"""Work in other processes: what dies, hangs or fails there, and that none is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from klinic.diagnostics.survey import pool


def fragile(piece: tuple[str, float]) -> str:
    """Work of another process: it ends, hangs, fails or is done."""
    what, seconds = piece
    time.sleep(seconds)
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "leave":
        os._exit(3)
    if what == "raise":
        raise ValueError("told to")
    return what


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`fragile` under a name that another process can import."""
    path = Path(__file__)
    monkeypatch.syspath_prepend(str(path.parent))  # which a spawned process is told
    monkeypatch.setattr(fragile, "__module__", path.stem)
    return fragile


@pytest.mark.slow
def test_one_that_dies_costs_its_own_piece(importable: Callable[..., str]) -> None:
    pieces = [("a", 0.5), ("die", 0.0), ("b", 0.0), ("leave", 0.0), ("c", 0.0), ("d", 0.0)]
    a, died, b, left, c, d = pool.spread(importable, pieces, 2, 60.0)
    assert (a, b, c, d) == ("a", "b", "c", "d")
    assert "signal 9" in died.why
    assert "status 3" in left.why


@pytest.mark.slow
def test_one_that_hangs_costs_its_own_piece(importable: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    going = pool.spread(importable, [("a", 0.0), ("b", 3.0), ("hang", 1000.0), ("c", 0.0)], 2, 0.0)
    assert next(going) == "a"
    monkeypatch.setattr(pool, "GRACE_S", 5.0)  # both processes have started
    b, hung, c = going
    assert (b, c) == ("b", "c")
    assert "gave no answer" in hung.why


@pytest.mark.slow
def test_what_the_work_raises_is_raised_and_nobody_is_left(importable: Callable[..., str]) -> None:
    going = pool.spread(importable, [("a", 0.0), ("hang", 1000.0), ("raise", 3.0)], 2, 60.0)
    assert next(going) == "a"
    children = {one.pid for one in pool.multiprocessing.active_children()}
    assert len(children) == 2
    with pytest.raises(ValueError, match="told to"):
        next(going)
    assert not children & {one.pid for one in pool.multiprocessing.active_children()}
