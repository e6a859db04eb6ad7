"""The writer of a run directory: manifest, metrics, samples, events; one writer at a time, append only."""

from __future__ import annotations

import os
import socket
import threading
import time as clock
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from klinic.trainer.stream import manifest as manifests
from klinic.trainer.stream.encode import dumps, nonfinite, step_line
from klinic.trainer.stream.errors import StreamError
from klinic.trainer.stream.lines import LineFile
from klinic.trainer.stream.lock import Lock

SAMPLES_CAP = 8 * 2**20  # bytes of samples.jsonl; later samples are dropped and the drop is an event
SAMPLE_TEXT = 4000  # characters kept of a prompt or response


class RunDirectory:
    """Writes `path`, made where it is missing; refuses a directory that another live process writes.

    Opening a directory that holds steps already is a resume: nothing is truncated, and a torn last line is
    closed off. `resumed` tells which it was. Raises InUseError or StreamError.
    """

    def __init__(self, path: str | os.PathLike[str], samples_cap: int = SAMPLES_CAP) -> None:
        self.path = Path(path).absolute()
        self.samples_cap = samples_cap
        self._make()
        self._lock = Lock(self.path / "control" / "lock")
        self._lock.take()
        self._metrics = LineFile(self.path / "metrics.jsonl")
        self._samples = LineFile(self.path / "samples.jsonl")
        self._events = LineFile(self.path / "events.jsonl")
        self.resumed = self._metrics.size > 0
        self.manifest = manifests.read(self.path / "run.json")
        self._dropped = False
        self._open = True
        self._guard = threading.RLock()  # the heartbeat comes from a thread of its own

    def _make(self) -> None:
        try:
            (self.path / "control").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StreamError(f"cannot make {self.path}: {error.strerror}; name a writable directory") from None

    @classmethod
    def create(cls, path: str | os.PathLike[str], **facts: Any) -> Self:
        """Open `path` and write its manifest with status `running`; `facts` are further manifest fields."""
        run = cls(path)
        run.begin(**facts)
        return run

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open an existing run directory to add to it. Raises StreamError where there is none."""
        if not Path(path).is_dir():
            raise StreamError(f"{path} is no run directory; check the path")
        return cls(path)

    def begin(self, **facts: Any) -> None:
        """State that this process writes the run from now on; earlier facts stay unless given again."""
        now = clock.time()
        fixed = {
            "schema": manifests.SCHEMA,
            "id": self.manifest.get("id") or uuid.uuid4().hex,
            "status": "running",
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "start": self.manifest.get("start") or now,
            "heartbeat": now,
            "end": None,
            "error": None,
        }
        self.update(**fixed, **facts)

    def update(self, **facts: Any) -> None:
        """Change manifest fields and replace run.json."""
        with self._guard:
            self.manifest.update(facts)
            manifests.replace(self.path / "run.json", self.manifest)

    def heartbeat(self) -> None:
        """Say that the writer lives; call it every ten seconds or so."""
        with self._guard:
            if self._open:
                self._lock.touch()
                self.update(heartbeat=clock.time())

    def write_step(self, step: int, data: Mapping[str, Any], time: float | None = None) -> None:
        """Append one line of metrics; several lines of one step are fine, readers merge them."""
        self._metrics.append(step_line(step, data, clock.time() if time is None else time))

    def event(self, kind: str, step: int | None = None, **data: Any) -> None:
        """Append an event: started, resumed, checkpoint, validation, reward swapped, stop, finished, ..."""
        record: dict[str, Any] = {"time": round(clock.time(), 3), "kind": kind, "step": step, "data": data}
        self._events.append(dumps(record))
        if kind == "checkpoint":  # what a checkpoint goes back to must be on the disk as surely as it is
            self.sync()

    def sample(
        self, step: int, prompt: str, response: str, ground_truth: Any = None, score: Any = None, **more: Any
    ) -> bool:
        """Append a scored validation sample; False where the cap on samples.jsonl is reached."""
        record = {
            "step": step,
            "prompt": prompt[-SAMPLE_TEXT:],
            "response": response[:SAMPLE_TEXT],
            "ground_truth": ground_truth,
            "score": score,
            **more,
        }
        if words := nonfinite(record):
            record["nonfinite"] = words
        line = dumps(record)
        if self._samples.size + len(line) > self.samples_cap:
            self._tell_dropped(step)
            return False
        self._samples.append(line)
        return True

    def _tell_dropped(self, step: int) -> None:
        if not self._dropped:
            self._dropped = True
            self.event("samples dropped", step, cap_bytes=self.samples_cap)

    def sync(self) -> None:
        """Force metrics and events to the disk."""
        self._metrics.sync()
        self._events.sync()

    def finish(self, status: str, step: int | None = None, error: str | None = None) -> None:
        """End the run: an event, a last manifest, everything on the disk, the lock given back.

        status: finished, stopped or failed; error: why it failed, one line.
        """
        if not self._open:
            return
        if status not in manifests.STATUSES:
            raise ValueError(f"status {status!r} is none of {', '.join(manifests.STATUSES)}")
        more = {"error": error} if error else {}
        try:
            self.event(status, step, **more)
            self.sync()
            self.update(status=status, end=clock.time(), heartbeat=clock.time(), error=error)
        finally:
            self.close()

    def close(self) -> None:
        """Close the files and give the lock back without a word about how the run ended."""
        with self._guard:
            self._open = False
        for file in (self._metrics, self._samples, self._events):
            file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
