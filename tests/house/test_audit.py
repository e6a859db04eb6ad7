"""The audit of dependencies never passes where nothing was looked up."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

AUDIT = runpy.run_path(str(Path(__file__).with_name("audit.py")))
BAD = [{"name": "pyyaml", "version": "5.3", "vulns": [{"id": "PYSEC-2020-96"}]}]
GOOD = [{"name": f"package{at}", "version": "1", "vulns": []} for at in range(20)]
UNKNOWN = {"name": "torch", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("bad_one", "installed", "status", "said"),
    [
        (BAD, GOOD, 0, "0 known weaknesses in 20 packages"),
        (BAD, [*GOOD, UNKNOWN], 0, "0 known weaknesses in 20 packages, not known to the service: torch"),
        (BAD, [*GOOD, *BAD], 1, "1 known weaknesses in 21 packages\npyyaml 5.3: PYSEC-2020-96"),
        (BAD, [*GOOD, *[UNKNOWN] * 5], 3, "5 of 25 packages are not known"),
        (BAD, None, 3, "did not answer to the end"),
        (None, GOOD, 3, "does not answer as it should for pyyaml==5.3"),
        ([{"name": "pyyaml", "skip_reason": "Dependency not found on PyPI"}], GOOD, 3, "does not answer as it should"),
        ([{"name": "pyyaml", "version": "5.3", "vulns": []}], GOOD, 3, "does not answer as it should"),
        ([], GOOD, 3, "does not answer as it should"),
    ],
)
def test_only_what_was_looked_up_is_sound(bad_one: Any, installed: Any, status: int, said: str) -> None:
    def ask(options: Sequence[str], seconds: float) -> Any:
        return bad_one if "--requirement" in options else installed

    code, told = AUDIT["audited"](ask)
    assert code == status
    assert said in told


@pytest.mark.parametrize("script", ["import time; time.sleep(60)", "print('no JSON')", "print('{}')", "raise OSError"])
def test_a_tool_that_fails_or_hangs_says_nothing(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AUDIT["found"].__globals__, "AUDIT", [sys.executable, "-c", script])
    assert AUDIT["found"]([], 1.0) is None


@pytest.mark.parametrize(
    ("pip", "found", "or_say_so", "status", "said"),
    [
        (0, (0, "0 known weaknesses"), False, 0, "audit: 0 known weaknesses"),
        (0, (1, "1 known weaknesses"), True, 1, "audit: 1 known weaknesses"),
        (0, (3, "no answer"), False, 3, "audit NOT DONE: no answer"),
        (0, (3, "no answer"), True, 0, "audit NOT DONE: no answer"),
        (1, (0, "0 known weaknesses"), False, 1, "audit: 0 known weaknesses"),
        (1, (3, "no answer"), True, 1, "audit NOT DONE: no answer"),
    ],
)
def test_the_exit_status_says_what_was_found(
    pip: int,
    found: tuple[int, str],
    or_say_so: bool,
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = AUDIT["main"].__globals__
    done = subprocess.CompletedProcess([], pip, "what pip says\n", "")
    monkeypatch.setitem(names, "subprocess", SimpleNamespace(run=lambda *_, **__: done))
    monkeypatch.setitem(names, "audited", lambda: found)
    assert AUDIT["main"](or_say_so) == status
    assert capsys.readouterr().out.splitlines() == ["pip check: what pip says", said]
