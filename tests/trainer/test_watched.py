"""A dashboard beside a training."""

from __future__ import annotations

import re
import time
import urllib.request
from pathlib import Path

import pytest

from klinic.trainer.cli.dashboard import with_dashboard


def test_nothing_is_started_where_nobody_asked(tmp_path: Path) -> None:
    with with_dashboard(tmp_path / "run", False):
        assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_it_serves_while_the_training_runs_and_ends_with_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = ""
    with with_dashboard(tmp_path / "run", True):
        until = time.monotonic() + 60
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/", said)) and time.monotonic() < until:
            time.sleep(0.2)
            said += capfd.readouterr().out
        assert found
        with urllib.request.urlopen(found[0], timeout=30) as page:
            assert page.status == 200
    with pytest.raises(OSError):
        urllib.request.urlopen(found[0], timeout=5)
