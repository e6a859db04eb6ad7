"""Judges the runs of a shelf one after the other: those that somebody waits for first, then those that go on."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from klinic.dashboards.store.courtesy import Courtesy
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.store.remembered import Remembered
from klinic.diagnostics.engine.diagnose import JudgeError
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.engine.monitor import Monitor
from klinic.diagnostics.readers import ReadError
from klinic.diagnostics.run import Run

SHARE = 0.25  # of the time, at most, for judging one run anew and anew
SILENT_END = "INC00"
KEPT = 100  # runs that go on whose judging is remembered, the last ones; more are judged from their beginning each time

Entries = Callable[[], Mapping[str, Entry]]
Settle = Callable[[Entry, Diagnosis | None, str], None]


class Judging:
    """What is to be judged, and with what memory. `step()` is called by one thread at a time.

    entries: how the shelf stands now. settle: takes the diagnosis of an entry, or the reason why there is none.
    remembered: what was found before in runs that are over.
    """

    def __init__(self, entries: Entries, settle: Settle, remembered: Remembered) -> None:
        self._entries, self._settle, self._remembered = entries, settle, remembered
        self._asked: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._wanted: set[str] = set()
        self._monitors: dict[str, Monitor] = {}
        self._judged: dict[str, int] = {}
        self._due: dict[str, float] = {}
        self._rested: tuple[Mapping[str, Entry] | None, float] = None, 0.0  # nothing is due in these before then

    def want(self, name: str) -> None:
        """Somebody waits for the judgement of this run."""
        self._asked.put(name)

    def step(self) -> bool:
        """Judge one run; False where none is due."""
        entry = self._next()
        if entry is None or entry.run is None:
            self.rest()
            return False
        began = time.monotonic()
        diagnosis, problem = self._judge(entry, entry.run)
        self._judged[entry.id] = entry.version
        self._due[entry.id] = time.monotonic() + (time.monotonic() - began) * (1 / SHARE - 1)
        self._wanted.discard(entry.id)
        self._settle(entry, diagnosis, problem)
        return True

    def rest(self) -> None:
        """Write down what is to be remembered."""
        self._remembered.rest()

    def _next(self) -> Entry | None:
        with suppress(queue.Empty):
            while True:
                self._wanted.add(self._asked.get_nowait())
        now, entries = time.monotonic(), self._entries()
        if entries is self._rested[0] and now < self._rested[1]:
            return None
        stale = [one for one in entries.values() if self._stale(one)]
        found = min((one for one in stale if self._due.get(one.id, 0.0) <= now), key=self._turn, default=None)
        if found is None:
            self._rested = entries, min((self._due[one.id] for one in stale), default=math.inf)
        return found

    def _stale(self, entry: Entry) -> bool:
        return entry.run is not None and self._judged.get(entry.id) != entry.version

    def _turn(self, entry: Entry) -> tuple[bool, bool, int]:
        return entry.id not in self._wanted, entry.id not in self._monitors, entry.stamp

    def _judge(self, entry: Entry, run: Run) -> tuple[Diagnosis | None, str]:
        """The diagnosis, or why there is none; a log that still grows is not said to have ended."""
        going = entry.state() in ("running", "stalled")
        known = self._monitors.pop(entry.id, None)
        if not going and (before := self._remembered.diagnosis(entry.origin)):
            return before, ""
        try:
            monitor = known or Monitor()  # reads the rules: one of them may be broken
            if going:
                self._keep(entry.id, monitor)  # others are not judged again: their memory is let go
            found = monitor.diagnose(run)
        except JudgeError as error:  # of a run that has just begun there is nothing to say yet
            return None, "" if going else str(error).removeprefix(f"{run.source.path}: ")
        except (ReadError, ValueError) as error:
            return None, str(error).removeprefix(f"{run.source.path}: ")
        except Exception as error:  # one run's trouble must not end the judging of all others
            return None, f"{type(error).__name__}: {error}"
        if not going:
            self._remembered.keep(entry.origin, run, found)
            return found, ""
        return replace(found, incidents=tuple(item for item in found.incidents if item.id != SILENT_END)), ""

    def _keep(self, name: str, monitor: Monitor) -> None:
        self._monitors[name] = monitor
        if len(self._monitors) > KEPT:
            del self._monitors[next(iter(self._monitors))]


def work(judging: Judging, end: threading.Event, wait: float, courtesy: Courtesy) -> None:
    """Judge until the end, between the answers to pages."""
    while not end.is_set():
        courtesy.wait()
        if not judging.step():
            end.wait(wait)
    judging.rest()
