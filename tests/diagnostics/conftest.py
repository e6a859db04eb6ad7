"""What tests of reading share: where the data lies, and how two runs are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

from klinic.diagnostics.run import Run


def _differences(one: Run, other: Run, *, ignore: tuple[str, ...] = ()) -> list[str]:
    found = []
    for field in (one for one in fields(Run) if one.name != "growth"):  # how a run came about is not what it says
        a, b = getattr(one, field.name), getattr(other, field.name)
        same = a.equals(b, null_equal=True) if isinstance(a, pl.DataFrame) else a == b
        if not same and field.name not in ignore:
            found.append(f"{field.name}: {a!r} != {b!r}")
    return found


@pytest.fixture(scope="session")
def differences() -> Callable[..., list[str]]:
    """Fields in which two runs differ, in words; empty where they are the same."""
    return _differences


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of test inputs."""
    return Path(__file__).parents[1] / "data"
