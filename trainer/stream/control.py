"""The control folder: small JSON files by which people and tools steer a run; the plugin reads them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klinic.trainer.stream.manifest import replace

STOP, REWARD, VERDICT = "stop", "reward", "verdict"
STOPPED_ILL = 3  # exit code of a launch that was stopped for a finding


@dataclass(frozen=True)
class Request:
    """A wish that lies in the control folder.

    mark: changes whenever the file is written again, so that a reader can tell a new wish from an old one.
    data: what the file says; empty where it holds no JSON object.
    """

    kind: str
    mark: tuple[int, int]
    data: dict[str, Any]


def _write(run: Path, kind: str, data: dict[str, Any]) -> Path:
    folder = run / "control"
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / kind, data)
    return folder / kind


def request_stop(path: str | os.PathLike[str], by: str, reason: str = "", **more: Any) -> Path:
    """Ask the run in `path` to stop at the end of its step, after a checkpoint; gives the file written.

    more: what the manifest and the event of the stop are to say beside it.
    """
    return _write(Path(path), STOP, {"by": by, "reason": reason, "time": time.time(), **more})


def request_reward(
    path: str | os.PathLike[str], name: str, file: str | os.PathLike[str] | None = None, by: str = "user"
) -> Path:
    """Ask for another reward from the next step on.

    name: a bundled reward (`rule`, `model`), or the function's name where `file` is given.
    file: Python file with that function (else `compute_score`); read again at every request.
    """
    where = None if file is None else str(Path(file).resolve())
    return _write(Path(path), REWARD, {"name": name, "path": where, "by": by, "time": time.time()})


def tell_verdict(path: str | os.PathLike[str], verdict: Mapping[str, Any]) -> Path:
    """Lay down what the live judge says of the run, for the process that holds its trackers; gives the file written.

    verdict: step (the last one judged), health, verdict, severity, findings (name -> 1 info, 2 warn, 3 error), story.
    """
    return _write(Path(path), VERDICT, {**verdict, "time": time.time()})


def pending(path: str | os.PathLike[str], kind: str) -> Request | None:
    """The wish of this kind that lies in the run's control folder, or None."""
    file = Path(path) / "control" / kind
    try:
        stat = file.stat()
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    try:
        data = json.loads(text)
    except ValueError:
        data = {}
    return Request(kind, (stat.st_mtime_ns, stat.st_ino), data if isinstance(data, dict) else {})


def withdraw(path: str | os.PathLike[str], kind: str) -> None:
    """Take a wish back; nothing happens where there is none."""
    (Path(path) / "control" / kind).unlink(missing_ok=True)
