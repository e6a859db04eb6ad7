"""Fixtures for all tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

LONGEST_S = 250


@pytest.fixture
def awaited() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Runs a coroutine to its end in a thread of its own: a browser of other tests keeps a loop running in this one."""

    def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
        with ThreadPoolExecutor(1) as elsewhere:
            return elsewhere.submit(asyncio.run, asyncio.wait_for(coroutine, LONGEST_S)).result()

    return run
