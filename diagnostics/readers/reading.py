"""A run being read from its parts, all at once or as they grow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.readers.part import Part, PartReading, StaleError
from klinic.diagnostics.readers.registry import ReadError, is_binary, names, what_it_is
from klinic.diagnostics.run import InRun, Note, Run, RunBuilder
from klinic.diagnostics.run.events import Event


@dataclass(frozen=True)
class Plan:
    """The parts of one run. path: as the user named it. format: "" where the main part's reader names it."""

    path: str
    parts: tuple[Part, ...]
    format: str = ""
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def main(self) -> Part:
        """The part that gives the run its format."""
        return next(part for part in self.parts if part.main)


class Reading:
    """Reads the parts of a plan into one `Run` (or several, where one source holds several)."""

    def __init__(self, plan: Plan, live: bool = False) -> None:
        self._plan = plan
        self._live = live
        self._start()

    def _start(self) -> None:
        self._parts = [PartReading(part, self._live) for part in self._plan.parts]
        self._builders: dict[str, RunBuilder] = {}
        self._current: dict[int, str] = {}
        self._wholes: dict[int, bytes] = {}

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
        before = [reading.size for reading in self._parts]
        fresh = False
        for index, (reading, limit) in enumerate(zip(self._parts, limits, strict=True)):
            if reading.part.whole:
                fresh |= self._read_whole(index)
                continue
            self._add(index, reading.pull(None if reading.part.ahead else limit))
            grew = reading.size != before[index]
            fresh |= grew
            if grew and self._live and self._later_began(index):
                raise StaleError
        return fresh

    def _later_began(self, index: int) -> bool:
        later = self._parts[index + 1 :]
        return self._parts[index].part.rows and any(part.part.in_turn and part.size for part in later)

    def _read_whole(self, index: int) -> bool:
        """Read a small file anew if its content changed."""
        part = self._parts[index].part
        try:
            data = part.path.read_bytes() if part.path else b""
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
        rank, current = self._parts[index].part.rank, self._current.get(index, "")
        batch: list[Event] = []
        for event in events:
            if type(event) is InRun:
                self._builder(current).add(batch, rank)
                batch, current = [], event.name
            else:
                batch.append(event)
                if len(batch) >= 1000:
                    self._builder(current).add(batch, rank)
                    batch = []
        self._builder(current).add(batch, rank)
        self._current[index] = current

    def _builder(self, name: str) -> RunBuilder:
        builder = self._builders.get(name)
        if builder is None:
            path = f"{self._plan.path}#{name}" if name else self._plan.path
            builder = self._builders[name] = RunBuilder(path, "", canonical)
            builder.add(map(Note, self._plan.notes))
        return builder

    def _format(self) -> str:
        main = next(reading for reading in self._parts if reading.part is self._plan.main)
        return self._plan.format or (main.reader.name if main.reader else "")

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
            if not reading.part.whole:
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
        main = next(reading for reading in self._parts if reading.part is self._plan.main)
        return f"{self._plan.path}: {what_it_is(main.head)}; tried {names()}; give the log of a training run"

    def unreadable(self) -> bool:
        """Whether no reader knew the main part, or it is binary in a text reader's hands."""
        main = next(reading for reading in self._parts if reading.part is self._plan.main)
        text = main.reader is not None and not getattr(main.reader, "binary", False)
        return (main.reader is None and main.part.opens is None) or (text and is_binary(main.head))


def read(plan: Plan) -> list[Run]:
    """The runs of a plan, read to the end; ReadError where there is nothing to read."""
    reading = Reading(plan)
    try:
        reading.advance()
        found = [run for run in reading.finish() if run.frame.height or run.lines or run.manifest]
        if not found or (reading.unreadable() and not any(run.frame.height for run in found)):
            raise ReadError(reading.why_nothing())
        return found
    except OSError as error:
        raise ReadError(
            f"{error.filename or plan.path}: {(error.strerror or str(error)).lower()}; check the path"
        ) from None
    finally:
        reading.close()


def _size(part: Part) -> int | None:
    try:
        return part.path.stat().st_size if part.path is not None and part.path.is_file() else None
    except OSError:
        return None


def as_path(path: str | Path) -> Path | None:
    """The path, or None for stdin (`-`)."""
    return None if str(path) == "-" else Path(path)
