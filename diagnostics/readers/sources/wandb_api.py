"""Runs of a W&B server: wandb://ENTITY/PROJECT/RUN, by W&B's own client.

Server and login are those that the client finds: WANDB_BASE_URL, WANDB_API_KEY or ~/.netrc. History, config, summary
and state are written into a folder of this process as a run directory; of a run that grew, the new steps are asked for.
Source: https://docs.wandb.ai/models/ref/python/public-api/run (scan_history, config, summary, state).
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from klinic.diagnostics.readerror import ReadError
from klinic.diagnostics.readers.sources.copied import CopiedRun

SCHEME = "wandb://"
REQUEST_S, LONGEST_S = 30, 300.0  # for one request; for all of a look, a long history page by page
SERVICE = "WANDB_SERVICE"  # the variable by which W&B's client tells its children of its service
STATES = {"finished": "finished", "failed": "failed", "crashed": "failed", "killed": "stopped", "preempted": "stopped"}
_PATH = re.compile(r"([^/\s?#@:]+)/([^/\s?#@:]+)/(?:runs/)?([^/\s?#@:]+)/?")


def is_run(address: str) -> bool:
    """Whether an address is one of these."""
    return address.startswith(SCHEME)


class WandbRun(CopiedRun):
    """A copy of one run of a server."""

    def __init__(self, address: str) -> None:
        found = _PATH.fullmatch(address.removeprefix(SCHEME))
        if found is None:
            said = SCHEME + address.removeprefix(SCHEME).rpartition("@")[2]
            raise ReadError(f"{said}: write wandb://ENTITY/PROJECT/RUN; RUN is the id at the end of its page's address")
        super().__init__(address)
        self._path = "/".join(found.groups())
        self._run: Any = None
        self._next = 0
        self._summed = False

    @property
    def place(self) -> Path:
        """The folder."""
        return self.folder

    def update(self) -> None:
        """Ask for what is new. Raises ReadError."""
        try:
            _within(LONGEST_S, self._ask)
        except ImportError as error:
            raise ReadError(f"{self.shown}: {error}; pip install wandb") from None
        except TimeoutError:
            raise ReadError(f"{self.shown}: no whole answer of W&B within {LONGEST_S:.0f} s; try again later") from None
        except Exception as error:  # W&B's client raises errors of several libraries
            raise ReadError(f"{self.shown}: {_said(error)}") from None

    def _ask(self) -> None:
        run = self._loaded()
        # Of a run that grows, what the client remembers of its files is of yesterday; older clients remember nothing.
        more = {"use_cache": False} if "use_cache" in inspect.signature(run.scan_history).parameters else {}
        fresh = list(run.scan_history(min_step=self._next, **more))
        self._append(fresh or self._last_values(run))
        self._next = max([self._next, *(int(row["_step"]) + 1 for row in fresh if "_step" in row)])
        self.write("run.json", json.dumps(_manifest(run)))

    def _loaded(self) -> Any:
        if self._run is None:
            import wandb

            with _nobody_asked(), _nobody_told():
                self._run = wandb.Api(timeout=REQUEST_S).run(self._path)
            with contextlib.suppress(OSError):
                os.removedirs(self._run.dir)  # the client makes it for files that nobody fetches
        else:
            self._run.load(force=True)
        return self._run

    def _last_values(self, run: Any) -> list[Mapping[str, Any]]:
        """The summary, once, of a run that has ended without a history."""
        if self._next or self._summed or run.state not in STATES or not run.summary_metrics:
            return []
        self._summed = True
        return [run.summary_metrics]

    def _append(self, rows: list[Mapping[str, Any]]) -> None:
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(dict(_plain(row))) + "\n" for row in rows)


def _plain(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What is no table, picture or other file of W&B, and was logged."""
    for key, value in row.items():
        if value is not None and not (isinstance(value, Mapping) and "_type" in value):
            yield key, value


def _manifest(run: Any) -> dict[str, Any]:
    """What W&B knows of the run, as the manifest of a run directory.

    Of a run that goes on no sign of life is told: W&B itself watches for it, and calls a run without one crashed.
    """
    status = STATES.get(run.state, "running")
    times = {"start": getattr(run, "created_at", None), "end": getattr(run, "heartbeat_at", None)}
    return {
        "schema": "klinic.run/1",
        "id": run.id,
        "status": status,
        "project": run.project,
        "experiment": run.name,
        "error": "no sign of life any more; W&B calls it crashed" if run.state == "crashed" else None,
        "config": {key: value for key, value in run.config.items() if not key.startswith("_")},
        **({name: _seconds(text) for name, text in times.items()} if status != "running" else {}),
    }


def _seconds(text: Any) -> float | None:
    """Seconds since the epoch of W&B's time, which is UTC where it names no zone."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _within(seconds: float, ask: Callable[[], None]) -> None:
    """Ask, in a thread: the client itself waits without end for pages of a history. Raises TimeoutError."""
    caught: list[BaseException] = []

    def run() -> None:
        try:
            ask()
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=run, name="klinic-wandb", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError
    if caught:
        raise caught[0]


@contextlib.contextmanager
def _nobody_told() -> Iterator[None]:
    """Programs started from here, as alerts are, shall not find the service of this client and talk to it."""
    before = os.environ.get(SERVICE)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SERVICE, None)


@contextlib.contextmanager
def _nobody_asked() -> Iterator[None]:
    """Without a terminal to read from: the client would ask for a key that it does not find, and wait."""
    before, sys.stdin = sys.stdin, io.StringIO()
    try:
        yield
    finally:
        sys.stdin = before


def _said(error: Exception) -> str:
    """What went wrong and what to do, in a line."""
    words = " ".join(str(error).split())[:200] or type(error).__name__
    kind = type(error).__name__
    if kind == "UsageError":
        return "no W&B login; set WANDB_API_KEY or type wandb login (WANDB_BASE_URL names a server of your own)"
    if kind == "AuthenticationError":
        return f"W&B takes no login: {words}; check WANDB_API_KEY, WANDB_BASE_URL and the network"
    if kind == "RunNotFoundError" or "could not find" in words.lower():
        return "W&B has no such run, or this login may not read it; check entity, project and run id"
    return f"W&B does not answer: {words}"
