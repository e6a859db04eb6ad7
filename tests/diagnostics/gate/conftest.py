"""Runs put together by hand, the recordings, and the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from klinic.diagnostics.cli import main


@pytest.fixture
def recordings() -> Path:
    return Path(__file__).parents[3] / "sample_logs"


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    """A JSONL of verl's file logger with these metrics."""

    def write(name: str = "run.jsonl", **columns: list[Any]) -> Path:
        import json

        metrics = {key.replace("__", "/"): values for key, values in columns.items()}
        steps = max(map(len, metrics.values()))
        rows = [
            {"step": step + 1, "data": {key: values[step] for key, values in metrics.items() if step < len(values)}}
            for step in range(steps)
        ]
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return path

    return write


@pytest.fixture
def klinic(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Call klinic in an empty folder; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*args: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([str(arg) for arg in args])
        shown = capsys.readouterr()
        assert "Traceback" not in shown.out + shown.err and "internal error" not in shown.err
        return int(left.value.code or 0), shown.out, shown.err

    return run
