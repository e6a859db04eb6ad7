"""The shelf of runs: one thread reads what is new, one judges it; everybody else takes values from it."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from klinic.dashboards.figures.memory import Memory
from klinic.dashboards.store.courtesy import Courtesy
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.store.judging import Judging, work
from klinic.dashboards.store.moment import Moment
from klinic.dashboards.store.remembered import Remembered
from klinic.dashboards.store.scan import News, Root, looks_like_a_run
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.readers.reading import Plan
from klinic.diagnostics.run import Run

SHARE = 0.25  # of the time, at most, for looking through what is there
PAUSE = 0.05  # seconds after which the judge looks again for something to judge
UNSEEN = 10.0  # seconds between two rounds while nobody looks
Job = tuple[Root, Plan, bool]


class Shelf:
    """All runs below some roots. `start()` begins to read; `entries` and `entry` give what is known by then.

    remember: look up in klinic's cache what was found in runs that are over, and keep it there.
    """

    def __init__(self, roots: Sequence[str], refresh: float = 1.0, *, remember: bool = False) -> None:
        self.roots = tuple(roots)
        self.refresh = refresh
        self.ready = threading.Event()
        self.courtesy = Courtesy()
        self._scans = [Root(root) for root in roots]
        self._listed: list[tuple[Root, tuple[Plan, ...]]] = []
        self._jobs: dict[str, Job] = {}
        self._names: dict[str, str] = {}
        self._moment = Moment()
        self._wanted: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._lock = threading.RLock()
        self._end = threading.Event()
        self._judging = Judging(lambda: self.entries, self._settle, Remembered(on=remember))
        read = threading.Thread(target=self._read_on, name="klinic-shelf", daemon=True)
        judge = threading.Thread(
            target=work, args=(self._judging, self._end, PAUSE, self.courtesy), name="klinic-judge", daemon=True
        )
        self._threads = (read, judge)

    def start(self) -> Shelf:
        """Begin to read and to judge, each in a thread of its own: what is read shows before it is judged."""
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> None:
        """End the threads and let go of the files."""
        self._end.set()
        self.courtesy.wake()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=10)
        for scan in self._scans:
            scan.close()

    @property
    def entries(self) -> Mapping[str, Entry]:
        """All runs by their id, as they stood at one moment."""
        return self._moment.entries

    @property
    def moment(self) -> Moment:
        """All runs with the place of the last change: for those who ask next for what changed since."""
        return self._moment

    def entry(self, name: str) -> Entry | None:
        """One run by its id, or by the folder that holds it alone; one that is not yet judged is judged next."""
        entries = self.entries
        below = [entry for key, entry in entries.items() if key.startswith(f"{name}/")] if name not in entries else []
        found = entries.get(name) or (below[0] if len(below) == 1 else None)
        if found is not None and (job := self._jobs.get(found.listed)):
            job[0].hurry(found.listed)
        if found is not None and found.standing in ("waiting", "read"):
            self._wanted.put(found.listed)
            self._judging.want(found.id)
        return found

    def _read_on(self) -> None:
        while not self._end.is_set():
            began = time.monotonic()
            self._read()
            self.ready.set()
            self._end.wait(max(self.refresh, (time.monotonic() - began) * (1 / SHARE - 1)))
            if self.courtesy.away() and not self._end.is_set():
                self.courtesy.sleep(UNSEEN)

    def round(self) -> None:
        """Read what is new and judge what changed, at once: for those who do not `start()`."""
        self._read()
        while self._judging.step():
            pass

    def _read(self) -> None:
        """List what is there and read what is new."""
        now = time.time()
        self._list(now)
        due = {path: job for path, job in self._jobs.items() if job[0].due(path, now)}
        for path in list(due):
            if self._end.is_set():
                return
            for asked in [*self._asked(), path]:
                if asked in due:
                    self.courtesy.wait()
                    self._look(*due.pop(asked), now)
        for scan in self._scans:
            scan.rest()

    def _list(self, now: float) -> None:
        """What there is to be looked at; the rows of what is no longer there go."""
        listed = [(scan, scan.plans(now)) for scan in self._scans]
        if listed == self._listed:
            return
        self._listed = listed
        all_ = [plan for _, plans in listed for plan in plans]
        self._names = self._name([plan.path for plan in all_])
        self._jobs = {plan.path: (scan, plan, len(plans) == 1) for scan, plans in listed for plan in plans}
        self._announce(all_, self._names)
        self._drop({plan.path for plan in all_})

    def _look(self, scan: Root, plan: Plan, single: bool, now: float) -> None:
        """Take what is new in one run; whatever goes wrong there, the others are read on."""
        name = self._names.get(plan.path, plan.path)
        try:
            for news in scan.news(plan, single=single):
                self._take(news, name, plan.path)
        except Exception as error:
            self._take(News(plan.path, problem=f"{type(error).__name__}: {error}"), name, plan.path)
        entry = self.entries.get(name)
        scan.looked(plan, now, going=entry is not None and entry.state(now) == "running")

    def _asked(self) -> list[str]:
        """Paths of the runs that pages wait for: these are read first."""
        wanted: list[str] = []
        with suppress(queue.Empty):
            while True:
                wanted.append(self._wanted.get_nowait())
        return wanted

    def _announce(self, plans: Sequence[Plan], names: Mapping[str, str]) -> None:
        """What is surely a run gets its row before it is read."""
        new = {names[plan.path]: plan for plan in plans if looks_like_a_run(plan)}
        for name, plan in new.items():
            if name not in self.entries:
                self._put(Entry(name, plan.path, plan.path))

    def _drop(self, listed: set[str]) -> None:
        """What is no longer listed goes: removed, moved, or files that turned out to be parts of a run directory."""
        with self._lock:
            gone = [entry.id for entry in self.entries.values() if entry.listed not in listed]
            if gone:
                self._moment = self._moment.drop(gone)

    def _name(self, paths: Sequence[str]) -> dict[str, str]:
        """path -> id: relative to its root, in full where two roots hold the same."""
        short = {path: self._relative(path) for path in paths}
        taken = Counter(short.values())
        return {path: name if taken[name] == 1 else path for path, name in short.items()}

    def _relative(self, path: str) -> str:
        for root in self.roots:
            with suppress(ValueError):
                below = Path(path).relative_to(root)
                return str(below) if below.parts else Path(path).resolve().name
        return path

    def _take(self, news: News, name: str, listed: str) -> None:
        name = name + news.path.removeprefix(listed)
        with self._lock:
            known = self.entries.get(name) or Entry(name, news.path, listed)
            goes_on = _continues(known.run, news.run)
            changed = replace(
                known,
                run=news.run or known.run,
                problem=news.problem,
                origin=news.origin,
                version=known.version + 1,
                epoch=known.epoch + (0 if goes_on else 1),
                memory=known.memory if goes_on else Memory(),
                grew=news.grew or known.grew,
                watched=known.watched or known.run is not None,
            )
            self._put(changed)

    def _put(self, entry: Entry) -> None:
        with self._lock:
            self._moment = self._moment.put(entry)

    def _settle(self, judged: Entry, diagnosis: Diagnosis | None, problem: str) -> None:
        """Take what was found; rows may have come meanwhile."""
        with self._lock:
            entry = self.entries.get(judged.id)
            if entry is None:
                return
            before = entry.diagnosis.verdict if entry.diagnosis else ""
            if before and diagnosis is not None and diagnosis.verdict != before:
                entry = replace(entry, was=before, turned=time.time())
            self._put(replace(entry, diagnosis=diagnosis or entry.diagnosis, problem=problem))


def _continues(old: Run | None, new: Run | None) -> bool:
    """Whether the new run is the old one with rows added behind its last one."""
    if old is None or new is None or not old.frame.height or new.frame.height < old.frame.height:
        return False
    if len(new.attempts) != len(old.attempts) or len(new.metrics) != len(old.metrics):
        return False
    return bool(new.frame["step"][: old.frame.height].equals(old.frame["step"]))
