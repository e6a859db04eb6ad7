"""Add an event to a run that another process writes: a line appended in one write, no lock taken."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from klinic.trainer.stream.encode import dumps
from klinic.trainer.stream.lines import LineFile


def note(run: Path, kind: str, step: int | None = None, **data: Any) -> None:
    """Append an event to the run's events.jsonl. Raises StreamError where the file cannot take it."""
    file = LineFile(run / "events.jsonl")
    try:
        file.append(dumps({"time": round(time.time(), 3), "kind": kind, "step": step, "data": data}))
    finally:
        file.close()
