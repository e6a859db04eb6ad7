"""One root of the dashboard: which runs it holds and what is new in each; nothing outside it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from klinic.dashboards.store.beat import Beat
from klinic.dashboards.store.listing import Listing
from klinic.dashboards.store.remembered import Origin
from klinic.diagnostics.readers import ReadError
from klinic.diagnostics.readers.reading import LOG_ENDINGS, Plan, Reading, counts, holds_something, os_error
from klinic.diagnostics.run import Run
from klinic.diagnostics.survey.index import stamp

Signs = tuple[tuple[int, int, int], ...]

MAX_OPEN = 60  # of more runs than this, no file is held open between rounds


@dataclass(frozen=True)
class News:
    """What a round found: a path that is there, with its changed run, or with the reason why it has none."""

    path: str
    run: Run | None = None
    problem: str = ""
    grew: float = 0.0
    origin: Origin | None = None


class Root:
    """A file, a run directory or a folder of runs; it need not be there yet."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._readings: dict[str, Reading] = {}
        self._skipped: dict[str, Plan] = {}
        self._signs: dict[str, tuple[Plan, Signs]] = {}
        self._listing = Listing(path)
        self._beat = Beat()

    def plans(self, now: float) -> tuple[Plan, ...]:
        """The runs as the files lie now, unread; the same tuple as long as nothing changed."""
        return self._listing.plans(now)

    def due(self, path: str, now: float) -> bool:
        """Whether a run is to be looked at in this round."""
        return self._beat.due(path, now)

    def looked(self, plan: Plan, now: float, *, going: bool) -> None:
        """A run was looked at; one that goes on is looked at each round."""
        _, signs = self._signs.get(plan.path, (plan, ()))
        self._beat.looked(plan.path, now, now if going else _latest(signs))

    def hurry(self, path: str) -> None:
        """Somebody looks at a run: what is new in it is read in the next round."""
        self._beat.hurry(path)

    def news(self, plan: Plan, *, single: bool) -> Iterator[News]:
        """What is new in one run since the last call."""
        signs = _signs(plan)
        if self._signs.get(plan.path) == (plan, signs):
            return
        self._signs[plan.path] = plan, signs
        if outside(plan, Path(self.path)):
            yield from self._once(plan, "leads out of the folder that the dashboard was given: not opened")
            return
        reading, origin = self._reading(plan), Origin(plan, single, stamp(plan))
        try:
            if not reading.advance():
                return
            runs = [run for run in reading.runs() if holds_something(run)]
        except (OSError, ReadError) as error:
            text = os_error(error, plan.path) if isinstance(error, OSError) else str(error)
            yield News(plan.path, problem=text)
            return
        found = [run for run in runs if counts(run, single=single)]
        if reading.unreadable() or not found:
            yield from self._nothing(plan, reading, single=single)
        for run in found if not reading.unreadable() else []:
            yield News(run.source.path, run, grew=_latest(signs), origin=origin if len(found) == 1 else None)

    def _once(self, plan: Plan, problem: str) -> Iterator[News]:
        if self._skipped.get(plan.path) != plan:
            self._skipped[plan.path] = plan
            yield News(plan.path, problem=problem)

    def _nothing(self, plan: Plan, reading: Reading, *, single: bool) -> Iterator[News]:
        """A row that says why, for what is named like a run; other files of a folder are no runs."""
        if single or looks_like_a_run(plan):
            yield from self._once(plan, reading.why_nothing().removeprefix(f"{plan.path}: "))

    def _reading(self, plan: Plan) -> Reading:
        reading = self._readings.get(plan.path)
        if reading is None or reading.plan != plan:
            if reading is not None:
                reading.close()
            reading = self._readings[plan.path] = Reading(plan, live=True)
        return reading

    def rest(self) -> None:
        """Hold no more files open than the system likes."""
        if len(self._readings) > MAX_OPEN:
            self.close()

    def close(self) -> None:
        """Let go of the files; where they were read up to is kept."""
        for reading in self._readings.values():
            reading.close()


def looks_like_a_run(plan: Plan) -> bool:
    """Whether a path is surely meant as a run: by its name, or as a run directory."""
    return bool(plan.format) or plan.path.lower().endswith((*LOG_ENDINGS, ".jsonl"))


def outside(plan: Plan, root: Path) -> bool:
    """Whether a part of a run lies outside its root, by a symbolic link or a path that climbs."""
    real = root.resolve()
    home = real if real.is_dir() else real.parent
    return any(part.path is not None and not part.path.resolve().is_relative_to(home) for part in plan.parts)


def _signs(plan: Plan) -> Signs:
    """Inode, size and time of every part's file; a folder's own where a part is one."""
    return tuple(_sign(part.path) for part in plan.parts)


def _sign(path: Path | None) -> tuple[int, int, int]:
    try:
        stat = path.stat() if path is not None else None
    except OSError:
        return (0, 0, 0)
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns) if stat else (0, 0, 0)


def _latest(signs: Signs) -> float:
    """When a part of a run last changed, seconds since the epoch."""
    return max((sign[2] for sign in signs), default=0) / 1e9
