"""The session behind the text readers that know verl's metric lines."""

from __future__ import annotations

from klinic.diagnostics.readers.text.configscan import ConfigScan
from klinic.diagnostics.readers.text.frames import Frame, Frames, find_bar
from klinic.diagnostics.readers.verl.announcements import Words
from klinic.diagnostics.readers.verl.answers import Answers
from klinic.diagnostics.readers.verl.bulk import MANY, Bulk
from klinic.diagnostics.readers.verl.heldrows import Held, Lines
from klinic.diagnostics.readers.verl.metricline import MetricLine, Parsed, named, start_of
from klinic.diagnostics.readers.verl.pieces import line_of
from klinic.diagnostics.readers.verl.plainline import Items, spelled_alike
from klinic.diagnostics.readers.verl.release import Release, writer_of
from klinic.diagnostics.readers.verl.validation import ValidationScan, ValidationText
from klinic.diagnostics.run.events import Block, Event, Happened, Line, Meta, Note, Row

SUPERVISED = "supervised fine-tuning (train/loss only)"


class VerlSession:
    """Frames in, events out; a metric line is reported when the next line shows that it is complete."""

    def __init__(self, framework: str) -> None:
        self._framework = framework
        self._frames = Frames()
        self._config = ConfigScan()
        self._validation = ValidationScan()
        self._open: MetricLine | None = None
        self._events: list[Event] = []
        self._decimals: int | None = None
        self._before: list[str] = []
        self._last_keys: list[str] = []
        self._last_written: tuple[int, Items] = (-1, [])
        self._wrapped, self._told = False, ""
        self._words, self._release, self._held, self._answers = Words(), Release(), Held(), Answers()
        self._step: int | None = None
        self._step_keys: set[str] = set()
        self._initial: ValidationText | None = None
        self._rl_rows = self._supervised = 0
        self._bulk: Bulk | None = Bulk()

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes."""
        begun, whole, rest = self._frames.parted(data) if self._bulk and len(data) >= MANY else (b"", b"", data)
        for piece in (begun, whole, rest):
            if piece is whole and self._bulk and whole and not self._wrapped:
                self._frames.go_to(self._bulk.feed(self, whole, self._frames.line))
                continue
            self._all(self._frames.feed(piece))
        return self._drain()

    def foresee(self, data: bytes) -> None:
        """These bytes come soon."""
        if self._bulk and len(data) >= MANY and data.endswith(b"\n") and not self._wrapped:
            self._bulk.foresee(data)

    def slow(self, raw: bytes, line: int) -> list[Event]:
        """Take one whole line; what it gave."""
        before = len(self._events)
        self._frames.go_to(line)
        self._all(self._frames.feed(raw + b"\n"))
        return self._events[before:]

    def idle(self) -> bool:
        """Whether no line before the next one is waited with."""
        return self._open is None and not self._answers and self._config.idle() and self._validation.idle()

    def quotes(self) -> bool | None:
        """Whether an answer of the model is waited with, None where none would be."""
        return bool(self._answers) if self._answers.expected else None

    def steady(self) -> bool:
        """Whether a metric line whose keys are known means no more than its numbers."""
        plain = not self._wrapped and self._decimals is None and self._initial is None
        return plain and self._words.version in ("", self._told)

    def report(self, block: Block, lines: Lines) -> None:
        """Add rows; the last one is held back, with its line: what follows may look back at it."""
        self._rl_rows += len(block.steps)
        self._events.extend(self._held.add(block, lines))

    def settle(self, *, complete: bool = False) -> None:
        """A line comes that is read by itself: read the row that was held back by itself too."""
        if self._held:
            sure, lines, number = self._held.let_go()
            self._events.extend(sure)
            self._rl_rows -= 1
            self._last_keys = lines.keys_before() or self._last_keys
            self._all(Frames.of(lines.last, number))
            if complete:
                self._finish_metrics()

    def close(self) -> list[Event]:
        """The source has ended."""
        self.settle()
        self._all(self._frames.close())
        for frame in self._answers.release():
            self._take(frame)
        self._events.extend(self._bulk.passed() if self._bulk else ())
        self._finish_metrics()
        self._config.close()
        self._read_config()
        if self._validation.close():
            self._read_validation()
        self._settle_initial(0, {})
        if self._supervised and not self._rl_rows:
            self._events.append(Meta(framework=self._framework, not_rl=SUPERVISED))
        elif self._supervised:
            self._events.append(Note(f"{self._supervised} lines of supervised fine-tuning (train/loss) are left out"))
        elif self._framework and not self._told:
            self._events.append(Meta(framework=self._framework))
        return self._drain()

    def _drain(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _all(self, frames: list[Frame]) -> None:
        if frames and self._held:
            self.settle(complete=bool(self._bulk and self._bulk.text_since))
        for frame, quoted in self._answers.parted(frames):
            self._take(frame, quoted)

    def _take(self, frame: Frame, quoted: bool = False) -> None:
        if frame.prefixed:
            self._release.process(frame.source)
        start = None if quoted else start_of(frame.text)
        if start and not (self._open and self._open.tears(frame)):
            self._finish_metrics()
            self._open = MetricLine(start[0], start[1], frame)
            self._events.extend(self._words.bar(find_bar(frame.text)))
            if self._surely_complete(frame):
                self._finish_metrics()
            return
        if self._open:
            if not quoted and self._open.join(frame):
                return
            if frame.text:
                self._finish_metrics()
        self._other(frame)

    def _surely_complete(self, frame: Frame) -> bool:
        """The line has the very keys of the one before, in a log that wraps no lines: no need to wait."""
        return bool(
            self._open
            and frame.whole
            and not self._wrapped
            and self._last_keys
            and self._open.parsed().keys == self._last_keys
        )

    def _other(self, frame: Frame) -> None:
        """A frame without metrics: config, validation dict, progress bar or a line of text."""
        if self._config.take(frame):
            return
        self._read_config()
        if self._validation.take(frame):
            self._read_validation()
            return
        bar = find_bar(frame.text)
        self._events.extend(self._words.bar(bar))
        for line in line_of(frame, bar):
            self._events.append(line)
            self._events.extend(self._words.text(line.text))

    def _read_config(self) -> None:
        if (found := self._config.drain()) and not self._told:
            self._tell_meta(Parsed(0, 0))
        self._events.extend(found)

    def _finish_metrics(self) -> None:
        """The open metric line is complete: report its row."""
        if (line := self._open) is None:
            return
        parsed, self._open = line.parsed(), None
        self._wrapped = self._wrapped or line.wrapped
        self._last_keys = parsed.keys
        if not parsed.items:
            self._events.append(Line(line.text, line.line, line.source))
            return
        if self._is_repeated(parsed):
            return
        if parsed.supervised():
            self._supervised += 1
            return
        parsed.drop_cut_value(self._before, self._decimals, whole=line.whole)
        if parsed.cut:
            self._events.append(Note(f"line {parsed.line}: cut off at {parsed.cut[:80]!r}"))
        self._report(parsed)

    def _is_repeated(self, parsed: Parsed) -> bool:
        """Two handlers on one stream write every line twice."""
        (step, items), self._last_written = self._last_written, (parsed.step, parsed.items.copy())
        return step == parsed.step and spelled_alike(items, parsed.items)

    def _report(self, parsed: Parsed) -> None:
        values = self._named(parsed)
        self._decimals = parsed.fixed_decimals() or self._decimals
        self._tell_meta(parsed)
        fixed = self._decimals if self._decimals and parsed.matches(self._decimals) else None
        self._settle_initial(parsed.step, values)
        if parsed.step != self._step:
            self._step, self._step_keys = parsed.step, set()
        self._step_keys.update(values)
        self._rl_rows += 1
        digits = dict.fromkeys(values, fixed) if fixed else {}
        if self._bulk:
            self._bulk.learn(values)
        self._events.append(Row(values, parsed.step, decimals=digits, line=parsed.line))

    def _named(self, parsed: Parsed) -> dict[str, float]:
        """Values by key; a key that stands twice takes the name that the line before had in that place.

        verl 0.1 printed the coefficient of the KL penalty under the name of the penalty.
        """
        values, notes = named(parsed, self._before)
        self._events.extend(map(Note, notes))
        self._before = list(values) if len(values) >= len(self._before) // 2 else self._before
        return values

    def _tell_meta(self, parsed: Parsed) -> None:
        writer = writer_of(parsed.keys) or self._framework or ("verl" if parsed.items else "")
        guess = self._release.seen(parsed.keys, fixed=bool(self._decimals)) if writer == "verl" else ""
        version = self._words.version or guess
        if not self._told or (version and version != self._told):
            self._told = version or "?"
            self._events.append(Meta(framework=writer, version=version))

    def _read_validation(self) -> None:
        if (found := self._validation.drain()) is None or any(
            key.removeprefix("val/") == "loss" for key in found.values
        ):
            return
        if found.final:
            self._report_final(found)
        else:
            self._initial = found

    def _settle_initial(self, step: int, values: dict[str, float]) -> None:
        """verl 0.1 printed the first validation as a dict only; later ones log the same values as a line."""
        found, self._initial = self._initial, None
        if found and not set(found.values) & set(values):
            self._events.append(Row(found.values, step, line=found.line))

    def _report_final(self, found: ValidationText) -> None:
        if self._step is not None and not set(found.values) & self._step_keys:
            self._step_keys.update(found.values)
            self._events.append(Row(found.values, self._step, line=found.line))
        self._events.append(Happened("finished", step=self._step))
