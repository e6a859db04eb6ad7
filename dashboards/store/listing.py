"""The runs of a root as they lie there, listed anew only where one of its folders changed.

A folder's own time changes with every entry that comes, goes or is renamed. Folders that hold folders are asked for it
each round: new runs appear in them. Those that hold files alone are asked more rarely the longer they have been still.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from klinic.dashboards.store.beat import Beat
from klinic.diagnostics.readers import ReadError
from klinic.diagnostics.readers.find import MAX_FILES, plans
from klinic.diagnostics.readers.reading import Plan
from klinic.diagnostics.readers.rundir import is_run_directory

SETTLED = 2.0  # seconds: a time is as coarse as this on some file systems, and stays what it is for a second change
ANEW = 30.0  # seconds after which all is listed again, for file systems that keep no times of folders


@dataclass
class Listing:
    """The plans of a path. `plans(now)` gives the same tuple as long as nothing changed."""

    path: str
    _plans: tuple[Plan, ...] = ()
    _by_path: dict[str, Plan] = field(default_factory=dict)
    _folders: dict[Path, int | None] = field(default_factory=dict)  # -> its time in ns, None where that proves nothing
    _parents: set[Path] = field(default_factory=set)
    _beat: Beat = field(default_factory=Beat)
    _listed: float = float("-inf")

    def plans(self, now: float) -> tuple[Plan, ...]:
        """The runs as the files lie now, unread; none where the path is not there."""
        if not self._folders or now - self._listed >= ANEW or now < self._listed:
            self._list(now)
            return self._plans
        times = {folder: self._asked(folder, now) for folder in self._folders}
        changed = [folder for folder, time in times.items() if time is None or time != self._folders[folder]]
        if all(self._is_run(folder) for folder in changed):
            self._folders = times
        else:
            self._list(now)
        return self._plans

    def _asked(self, folder: Path, now: float) -> int | None:
        """A folder's time; the known one where it is not due."""
        if folder not in self._parents and not self._beat.due(folder, now):
            return self._folders[folder]
        return self._time(folder, now)

    def _time(self, folder: Path, now: float) -> int | None:
        try:
            time = folder.stat().st_mtime_ns
        except OSError:
            return None
        self._beat.looked(folder, now, time / 1e9)
        return time if time / 1e9 < now - SETTLED else None

    def _is_run(self, folder: Path) -> bool:
        """Whether a folder is the run directory that it was, of the same parts: nothing else in it is a run."""
        known = self._by_path.get(str(folder))
        return known is not None and is_run_directory(folder) and plans(folder) == [known]

    def _list(self, now: float) -> None:
        walked: list[Path] = []
        try:
            found = tuple(plans(self.path, walked)[:MAX_FILES]) if Path(self.path).exists() else ()
        except (ReadError, OSError):
            found = ()
        self._plans = self._plans if found == self._plans else found
        self._by_path = {plan.path: plan for plan in self._plans}
        self._parents = {folder.parent for folder in walked}
        self._beat.keep(set(walked))
        self._folders = {folder: self._time(folder, now) for folder in walked}
        self._listed = now
