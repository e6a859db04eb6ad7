"""Fixtures for all tests."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
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


@pytest.fixture(scope="session")
def verl_says() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """verl's own answers to a request, see verl_worker.py; they come from a process apart, which takes seconds."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        worker = str(Path(__file__).with_name("verl_worker.py"))
        command = [sys.executable, "-W", "ignore", worker]
        text = json.dumps(request)
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=800, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return answer
