"""Turn a reader's events into a `Run`, all at once or as a file grows."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from klinic.diagnostics.run.cells import MAX_METRICS
from klinic.diagnostics.run.config import Config, bounded
from klinic.diagnostics.run.events import (
    Block,
    ConfigRead,
    Event,
    Happened,
    Line,
    ManifestRead,
    Meta,
    Note,
    Row,
    SampleRead,
)
from klinic.diagnostics.run.growth import Changes
from klinic.diagnostics.run.lines import LinesOfNote
from klinic.diagnostics.run.merge import merged_config, merged_manifest, rising
from klinic.diagnostics.run.model import Run, Source
from klinic.diagnostics.run.newestfirst import SAID as BACKWARDS
from klinic.diagnostics.run.newestfirst import newest_first, righted
from klinic.diagnostics.run.rows import Rows
from klinic.diagnostics.run.secrets import masked, masked_tree
from klinic.diagnostics.run.trackers import only_ours, without_ours
from klinic.diagnostics.run.units import unit

MAX_SAMPLES = 2000
MAX_NOTES = 50


class RunBuilder:
    """Collects events and builds the `Run` as it stands; feeding in pieces gives the same as feeding at once.

    rename: (name as written, framework) -> verl's name for it.
    """

    def __init__(self, path: str, reader: str, rename: Callable[[str, str], str]) -> None:
        self._source = Source(path=path, format=reader)
        self._rows = Rows(lambda raw: rename(raw, self._source.framework))
        self._rename = rename
        self._decimals: dict[str, int] = {}
        self._printed: Mapping[str, int] = {}  # decimals of a row that were taken: most rows have the same ones
        self._configs: dict[int, Config] = {}
        self._said_by: dict[str, int] = {}  # word of the source -> part that said it
        self._manifests: dict[int, dict[str, object]] = {}
        self._config: Config | None = None  # as built last
        self._manifest: dict[str, object] | None = None
        self._lines = LinesOfNote()
        self._events: list[Happened] = []
        self._samples: deque[SampleRead] = deque(maxlen=MAX_SAMPLES)
        self._notes: list[str] = []
        self._last_line = 0
        self._resumes: list[Happened] = []
        self._changes = Changes()

    def fork(self) -> RunBuilder:
        """A copy that can take more events without touching this one."""
        other = RunBuilder(self._source.path, self._source.format, self._rename)
        other._source, other._last_line = self._source, self._last_line
        other._rows = self._rows.fork(lambda raw: self._rename(raw, other._source.framework))
        other._lines, other._changes = self._lines.fork(), self._changes.fork()
        for name in ["decimals", "said_by", "configs", "manifests", "events", "samples", "notes", "resumes"]:
            setattr(other, f"_{name}", getattr(self, f"_{name}").copy())
        other._config, other._manifest = self._built_config(), self._built_manifest()
        return other

    @property
    def rows(self) -> int:
        """How many rows there are so far."""
        return len(self._rows)

    def add(self, events: Iterable[Event], part: int = 0, *, parts_rows: bool = True) -> None:
        """Take events in the order in which the reader reports them.

        part: which of several sources of this run they come from; config of a higher part wins.
        parts_rows: a resume without a time parts the rows before it from those after; False where these events
        come from another source than the rows, so that their order says nothing.
        """
        for event in events:
            if type(event) is Row:
                self._take_row(event)
            elif type(event) is Block:
                self._take_block(event)
            else:
                self._take(event, part)
                if type(event) is Happened and event.kind == "resumed" and (parts_rows or event.time is not None):
                    self._resumes.append(event)

    def read_by(self, reader: str) -> None:
        """Name the reader, where it became known only while reading."""
        self._source = replace(self._source, format=reader)

    def stands_at(self, path: str) -> None:
        """Name the place, where one source turns out to hold several runs."""
        self._source = replace(self._source, path=path)

    def forget_config(self, part: int) -> None:
        """A part is about to be read anew as a whole (a manifest that was rewritten)."""
        self._configs.pop(part, None)
        self._config = None

    def _take(self, event: Event, part: int) -> None:
        match event:
            case Line():
                self._last_line = max(self._last_line, event.line)
                self._lines.add(event, part)
            case ConfigRead():
                config = self._configs.get(part, Config())
                self._configs[part] = config.merged(event.values, user=event.user, where=event.where)
                self._config = None
            case Happened():
                self._events.append(replace(event, data=masked_tree(event.data)) if event.data else event)
            case SampleRead():
                self._samples.append(SampleRead(masked_tree(event.data)))
            case Note():
                if event.text not in self._notes and len(self._notes) < MAX_NOTES:
                    self._notes.append(event.text)
            case Meta():
                self._take_meta(event, part)
            case ManifestRead():
                self._manifests[part] = bounded(event.data)
                self._manifest = None

    def _take_meta(self, meta: Meta, part: int) -> None:
        """The last non-empty word wins, of the highest part that has one."""
        words = {key: word for key in ("framework", "version", "not_rl") if (word := getattr(meta, key))}
        known = {key: word for key, word in words.items() if part >= self._said_by.get(key, part)}
        self._said_by.update(dict.fromkeys(known, part))
        if known.get("framework", self._source.framework) != self._source.framework:
            self._rows.columns.forget_names()
            self._printed = {}
        self._source = replace(self._source, **known)

    def _take_row(self, row: Row) -> None:
        self._last_line = max(self._last_line, row.line or 0)
        if only_ours(row.values):
            return
        rows, last = self._rows, self._rows.last_step
        step = row.step if row.step is not None else (last + 1 if last is not None else 1)
        resumed = bool(self._resumes) and self._resumes_before(step, row.time)
        if not resumed and self._belongs_to_an_earlier_row(step, row):
            return
        if resumed or last is None or step != last or rows.columns.conflicts(row.values):
            rows.open(step, row.time, resumed)
        else:
            rows.dated(row.time)
        rows.columns.put_row(row.values, nulls_are_nan=row.nulls_are_nan)
        if row.decimals and row.decimals != self._printed:
            self._take_decimals(row.decimals)

    def _take_decimals(self, printed: Mapping[str, int]) -> None:
        """The most digits that were seen of each metric, in the unit of its column."""
        self._printed = printed
        for raw, digits in printed.items():
            name = self._rows.columns.name(raw)
            digits -= round(math.log10(unit(raw)))
            self._decimals[name] = max(digits, self._decimals.get(name, 0))

    def _take_block(self, block: Block) -> None:
        """Stretches of rising steps beyond the last one at once, the rows between them one by one."""
        self._last_line = max(self._last_line, block.line or 0)
        bare = without_ours(block)
        if bare is not None:
            self._take_rows(bare)

    def _take_rows(self, block: Block) -> None:
        targets = self._rows.columns.targets(block)
        for start, end in rising(block.steps.tolist()):
            while start < end:
                last = self._rows.last_step
                if targets and not self._resumes and (last is None or block.steps[start] > last):
                    self._rows.append(block, targets, start, end)
                    break
                self._take_row(block.row(start))
                start += 1

    def _belongs_to_an_earlier_row(self, step: int, row: Row) -> bool:
        """Metrics of their own that come late (a validation beside the training, a second writer) join their step."""
        last = self._rows.last_step
        place = self._rows.row_of(step) if last is not None and step < last else None
        if place is None or not self._rows.columns.put_late(place, row.values, nulls_are_nan=row.nulls_are_nan):
            return False
        self._changes.add(place)
        return True

    def _resumes_before(self, step: int, time: float | None) -> bool:
        """Whether a resume lies between the last row and this one; events may have been read ahead of rows."""
        first = self._resumes[0]
        last = self._rows.last_step
        if first.time is not None and (time is not None or (last is not None and step > last)):
            due = [event for event in self._resumes if time is not None and (event.time or 0) <= time]
        else:
            due = self._resumes[:1]
        del self._resumes[: len(due)]
        return bool(due)

    def _all_notes(self, backwards: bool) -> list[str]:
        lost = self._rows.columns.dropped
        rows, attempts = len(self._rows), len(self._rows.attempts())
        mixed = (
            f"the step falls back {attempts - 1} times in {rows} rows: several runs mixed in one log, or one that "
            f"starts over and over; give each run a log of its own"
        )
        return [
            *self._notes,
            *([BACKWARDS] if backwards else [mixed] if rows < 3 * attempts > 9 else []),
            *([f"{lost} values of metrics beyond the first {MAX_METRICS} were dropped"] if lost else []),
        ]

    def build(self) -> Run:
        """The run as it stands after the events taken so far."""
        frame, nonfinite = self._rows.frames()
        run = Run(
            source=self._source,
            frame=frame,
            nonfinite=nonfinite,
            decimals=dict(self._decimals),
            config=self._built_config(),
            manifest=self._built_manifest(),
            lines=self._lines.kept(),
            events=tuple(self._events),
            samples=tuple(self._samples),
            attempts=self._rows.attempts(),
            last_line=self._last_line,
            growth=self._changes.so_far(),
        )
        backwards = newest_first(run)
        run = righted(run) if backwards else run
        return replace(run, notes=tuple(map(masked, self._all_notes(backwards))))

    def _built_config(self) -> Config:
        """The config, the same object as long as nothing new is told of it."""
        if self._config is None:
            config = merged_config(self._configs)
            self._config = replace(config, values=masked_tree(config.values))
        return self._config

    def _built_manifest(self) -> dict[str, object]:
        if self._manifest is None:
            self._manifest = masked_tree(merged_manifest(self._manifests))
        return self._manifest
