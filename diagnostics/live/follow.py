"""Follow a recording while it grows: the readers of the offline view, fed with new bytes only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from klinic.diagnostics.readerror import ReadError
from klinic.diagnostics.readers.find import plans
from klinic.diagnostics.readers.reading import Plan, Reading, as_path, counts, holds_something, os_error
from klinic.diagnostics.readers.sources.remote import is_remote
from klinic.diagnostics.run import Run

MAX_OPEN = 100  # of more runs than this, no file is held open between polls


class Followers:
    """Follows every run that a path holds, also runs that appear later.

    path: a file, a run directory, or a folder; it need not be there yet. Or an address (`sources.remote`), which is
    asked every few seconds.
    """

    def __init__(self, path: str | Path) -> None:
        if as_path(path) is None:
            raise ReadError("-: stdin cannot be followed; give a file or a directory")
        self.path = Path(path)
        self._shown = str(path)
        self._readings: dict[str, Reading] = {}

    def poll(self) -> list[Run]:
        """The runs that changed since the last call, as they stand; ReadError where the path cannot be read."""
        if not self._is_there() and not self._readings:
            return []
        try:
            return list(self._changed())
        except OSError as error:
            raise ReadError(os_error(error, self._shown)) from None

    def _changed(self) -> Iterator[Run]:
        found = self._plans()
        self._merge(found)
        for plan in found:
            reading = self._readings.get(plan.path)
            if reading is None or reading.plan != plan:
                if reading is not None:
                    reading.close()
                reading = self._readings[plan.path] = Reading(plan, live=True)
            if reading.advance():
                runs = [run for run in reading.runs() if holds_something(run)]
                if any(run.frame.height for run in runs) or not reading.unreadable():
                    yield from (run for run in runs if counts(run, single=len(found) == 1))
            if len(found) > MAX_OPEN:
                reading.close()

    def _merge(self, found: list[Plan]) -> None:
        """Let go of files that have become part of a run directory: a console is there before its run.json is."""
        folders = {Path(plan.path) for plan in found}
        for path in [path for path in self._readings if folders & set(Path(path).parents)]:
            self._readings.pop(path).close()

    def follows(self, path: str) -> bool:
        """Whether this path is a run of its own."""
        return path in self._readings

    def _is_there(self) -> bool:
        return is_remote(self._shown) or self.path.exists()

    def _plans(self) -> list[Plan]:
        """The plans as the files lie now; a file that is away for a moment (rotation) keeps its plan."""
        if not self._is_there():
            return [reading.plan for reading in self._readings.values()]
        return plans(self._shown)

    def close(self) -> None:
        """Let go of the files."""
        for reading in self._readings.values():
            reading.close()
        self._readings.clear()


class Follower:
    """Follows the one run that a path holds.

    `poll()` reads what is new and gives the `Run` as it stands: the same as opening the path would give, but
    for a last text line without a line end, which waits until it is whole. A file that was replaced by a new
    one (rotated, opened anew by its writer) is gone on with: the rows read before stay.
    """

    def __init__(self, path: str | Path) -> None:
        self._followers = Followers(path)
        self._runs: dict[str, Run] = {}

    def poll(self) -> Run | None:
        """The run as it stands, or None where nothing is new; ReadError where the path holds several runs."""
        changed = {run.source.path: run for run in self._followers.poll()}
        self._runs = {path: run for path, run in self._runs.items() if self._followers.follows(path)} | changed
        with_rows = [path for path, run in self._runs.items() if run.frame.height or run.manifest]
        wanted = with_rows or list(self._runs)
        if len(with_rows) > 1:
            shown = ", ".join(wanted[:3])
            raise ReadError(f"{self._followers.path}: holds {len(wanted)} runs ({shown}, ...); name one of them")
        return next((changed[path] for path in reversed(wanted) if path in changed), None)

    def close(self) -> None:
        """Let go of the files."""
        self._followers.close()

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
