"""A run being read from its parts, all at once or as they grow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from klinic.diagnostics.files.pipe import STDIN
from klinic.diagnostics.files.smallfile import small_file
from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.readerror import ClosedError, ReadError
from klinic.diagnostics.readers.part import Part, PartReading, StaleError
from klinic.diagnostics.readers.registry import is_binary, unknown
from klinic.diagnostics.run import InRun, Run, RunBuilder
from klinic.diagnostics.run.events import Event

BATCH = 1000
LOG_ENDINGS = (".log", ".out", ".err", ".log.gz", ".log.zst")


@dataclass(frozen=True)
class Plan:
    """The parts of one run. path: as the user named it. format: "" where the main part's reader names it."""

    path: str
    parts: tuple[Part, ...]
    format: str = ""

    @property
    def main(self) -> Part:
        """The part that gives the run its format."""
        return next(part for part in self.parts if part.main)


class Reading:
    """Reads the parts of a plan into one `Run` (or several, where one source holds several)."""

    def __init__(self, plan: Plan, live: bool = False) -> None:
        self.plan = plan
        self._live = live
        self._start()

    def _start(self) -> None:
        self._parts = [PartReading(part, self._live) for part in self.plan.parts]
        self._builders: dict[str, RunBuilder] = {}
        self._current: dict[int, str] = {}
        self._wholes: dict[int, bytes] = {}
        self._ended: set[int] = set()

    def advance(self) -> bool:
        """Read what came since the last call; whether there was anything. Raises OSError."""
        try:
            return self._advance()
        except StaleError:
            self.close()
            self._start()
            self._advance()
            return True

    def _advance(self) -> bool:
        limits = [_size(reading.part) for reading in self._parts]
        before = [reading.received for reading in self._parts]
        fresh = False
        for index, (reading, limit) in enumerate(zip(self._parts, limits, strict=True)):
            if reading.part.whole:
                fresh |= self._read_whole(index)
                continue
            if reading.part.in_turn:
                self._end(index - 1)
            self._add(index, reading.pull(None if reading.part.ahead else limit))
            grew = reading.received != before[index]
            fresh |= grew
            if grew and index in self._ended:
                raise StaleError
        return fresh

    def _end(self, index: int) -> None:
        """The part after this one follows: report what this one held back."""
        if index not in self._ended:
            self._ended.add(index)
            self._add(index, self._parts[index].ended())

    def _read_whole(self, index: int) -> bool:
        """Read a small file anew if its content changed."""
        part = self._parts[index].part
        try:
            data = small_file(part.path) if part.path else b""
        except FileNotFoundError:
            return False
        if data == self._wholes.get(index) or part.opens is None:
            return False
        self._wholes[index] = data
        session = part.opens()
        for builder in self._builders.values():
            builder.forget_config(part.rank)
        self._add(index, [*session.feed(data), *session.close()])
        return True

    def _add(self, index: int, events: Iterable[Event]) -> None:
        part = self._parts[index].part
        current = self._current.get(index, "")
        batch: list[Event] = []
        for event in events:
            if type(event) is InRun or len(batch) >= BATCH:
                self._builder(current).add(batch, part.rank, parts_rows=part.rows)
                batch = []
            if type(event) is InRun:
                current = event.name
            else:
                batch.append(event)
        if batch:
            self._builder(current).add(batch, part.rank, parts_rows=part.rows)
        self._current[index] = current

    def _builder(self, name: str) -> RunBuilder:
        """The builder of a run; what was read before the first named run holds for each of them."""
        builder = self._builders.get(name)
        if builder is None:
            common = self._builders.get("")
            builder = self._builders[name] = common.fork() if common else RunBuilder(self.plan.path, "", canonical)
            if name:
                builder.stands_at(f"{self.plan.path}#{name}")
        return builder

    def _format(self) -> str:
        main = next(reading for reading in self._parts if reading.part is self.plan.main)
        return self.plan.format or main.format

    def runs(self) -> list[Run]:
        """The runs as they stand, as if the sources ended here; the reading can go on."""
        kept, current = self._builders, dict(self._current)
        self._builders = {name: builder.fork() for name, builder in kept.items()}
        try:
            return self.finish()
        finally:
            self._builders, self._current = kept, current

    def finish(self) -> list[Run]:
        """The runs when the sources have ended."""
        for index, reading in enumerate(self._parts):
            if not reading.part.whole and index not in self._ended:
                self._add(index, reading.ended())
        for builder in self._builders.values():
            builder.read_by(self._format())
        return [builder.build() for builder in self._named() or self._builders.values()]

    def _named(self) -> list[RunBuilder]:
        """The builders of named runs, where the source names its runs."""
        return [builder for name, builder in self._builders.items() if name]

    def close(self) -> None:
        """Let go of the files."""
        for reading in self._parts:
            reading.close()

    def why_nothing(self) -> str:
        """Why the sources gave neither metrics nor text, in a line."""
        main = next(reading for reading in self._parts if reading.part is self.plan.main)
        seen = main.trouble() or ("nothing but NUL bytes" if not main.head and main.size else "")
        return unknown(self.plan.path, main.head, seen)

    def unreadable(self) -> bool:
        """Whether no reader knew the main part, or it is binary in a text reader's hands."""
        main = next(reading for reading in self._parts if reading.part is self.plan.main)
        text = main.reader is not None and not getattr(main.reader, "binary", False)
        return (main.reader is None and main.part.opens is None) or (text and is_binary(main.head))


def read(plan: Plan) -> list[Run]:
    """The runs of a plan, read to the end; ReadError where there is nothing to read."""
    reading = Reading(plan)
    try:
        reading.advance()
        found = list(filter(holds_something, reading.finish()))
        if not found or (reading.unreadable() and not any(run.frame.height for run in found)):
            raise ReadError(reading.why_nothing())
        return found
    except OSError as error:
        raise ClosedError(os_error(error, plan.path)) from None
    finally:
        reading.close()


def holds_something(run: Run) -> bool:
    """Whether there is anything to judge: metrics, text or a manifest."""
    return bool(run.frame.height or run.lines or run.manifest)


def counts(run: Run, single: bool) -> bool:
    """Whether a file of a searched folder is a run: text without metrics only where its name says that it is a log."""
    return single or bool(run.frame.height or run.manifest) or run.source.path.lower().endswith(LOG_ENDINGS)


def os_error(error: OSError, path: str) -> str:
    """An operating system's error in a line."""
    return f"{error.filename or path}: {(error.strerror or str(error)).lower()}; check the path and its permissions"


def _size(part: Part) -> int | None:
    try:
        return part.path.stat().st_size if part.path is not None and part.path.is_file() else None
    except OSError:
        return None


def as_path(path: str | Path) -> Path | None:
    """The path, or None for stdin (`-` and its other names)."""
    return None if str(path) in STDIN else Path(path)
