"""klinic's run directory: manifest, metric stream, events, samples and console text as one run."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.beside import beside, parse_overrides
from klinic.diagnostics.readers.jsonl import JsonLines
from klinic.diagnostics.readers.part import Part
from klinic.diagnostics.readers.records.jsonrows import parse
from klinic.diagnostics.readers.records.wholefile import Whole
from klinic.diagnostics.readers.sources.bytestream import LineSplitter
from klinic.diagnostics.run.config import flatten
from klinic.diagnostics.run.events import ConfigRead, Event, Happened, ManifestRead, Meta, Note, SampleRead

METRICS, MANIFEST, EVENTS, SAMPLES = "metrics.jsonl", "run.json", "events.jsonl", "samples.jsonl"
LAUNCH = "launch.json"
CONSOLE = ("console.log", "console.log.gz", "console.log.zst")


class Manifest(Whole):
    """`run.json` being read: the manifest, the resolved config, the overrides.

    user: a person wrote the overrides; False where `launch.json` tells those from what klinic filled in.
    """

    user = True

    def close(self) -> Iterator[Event]:
        """Report the manifest."""
        try:
            manifest = parse(bytes(self._data))
        except ValueError as error:
            yield Note(f"{MANIFEST} is no whole JSON ({error}); it was left out")
            return
        if not isinstance(manifest, dict):
            yield Note(f"{MANIFEST} holds no object; it was left out")
            return
        yield ManifestRead(manifest)
        yield from self._config(manifest)
        versions = manifest.get("versions")
        version = versions.get("verl", "") if isinstance(versions, Mapping) else ""
        if version:
            yield Meta(framework="verl", version=str(version))

    def _config(self, manifest: Mapping[str, Any]) -> Iterator[Event]:
        config = manifest.get("config")
        if isinstance(config, Mapping) and config:
            yield ConfigRead(dict(flatten(config)), user=False, where=MANIFEST)
        written = _overrides(manifest.get("overrides") or manifest.get("command") or "")
        if written:
            yield ConfigRead(written, user=self.user, where=f"{MANIFEST} (overrides)")


class _LaunchedManifest(Manifest):
    user = False


class Launch(Manifest):
    """`launch.json` being read: what a person wrote of the overrides."""

    def close(self) -> Iterator[Event]:
        """Report them."""
        try:
            record = parse(bytes(self._data))
        except ValueError:
            return
        written = _overrides(record.get("user") or "") if isinstance(record, dict) else {}
        if written:
            yield ConfigRead(written, user=True, where=LAUNCH)


def _overrides(words: Any) -> dict[str, Any]:
    if isinstance(words, Mapping):
        return dict(flatten(words))
    if isinstance(words, list):
        words = shlex.join(str(word) for word in words)
    return parse_overrides(str(words))


class _Records(ABC):
    """JSON lines that hold no metrics but records of a kind."""

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._line = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """Report the records of the lines that `data` completes."""
        for line in self._lines.feed(data):
            yield from self._take(line)

    def close(self) -> Iterator[Event]:
        """Report the last line where it has no line end."""
        yield from self._take(self._lines.rest())

    def _take(self, line: bytes) -> Iterator[Event]:
        self._line += 1
        if not line.strip():
            return
        try:
            record = parse(line)
        except ValueError:
            record = None
        if isinstance(record, dict):
            yield self._event(record)
        else:
            yield Note(f"{self.where}: line {self._line} is no whole JSON object and was left out")

    where = ""

    @abstractmethod
    def _event(self, record: dict[str, Any]) -> Event:
        """What a record tells."""


class Events(_Records):
    """`events.jsonl` being read."""

    where = EVENTS

    def _event(self, record: dict[str, Any]) -> Event:
        kind = str(record.pop("kind", None) or record.pop("event", None) or record.pop("type", None) or "note")
        step, time = record.pop("step", None), record.pop("time", None)
        data = record.pop("data", None)
        return Happened(
            kind,
            step if isinstance(step, int) else None,
            float(time) if isinstance(time, int | float) else None,
            {**(data if isinstance(data, dict) else {}), **record},
        )


class Samples(_Records):
    """`samples.jsonl` being read."""

    where = SAMPLES

    def _event(self, record: dict[str, Any]) -> Event:
        return SampleRead(record)


def is_run_directory(folder: Path) -> bool:
    """Whether a folder is one run: klinic's manifest, or a metric stream with console text or events beside it."""
    has = {name for name in (METRICS, MANIFEST, EVENTS, *CONSOLE) if (folder / name).is_file()}
    return (METRICS in has and len(has) > 1) or (MANIFEST in has and _is_manifest(folder / MANIFEST))


def _is_manifest(file: Path) -> bool:
    try:
        return READER.sniff(Head(file.read_bytes(), file, complete=True)) > 0
    except OSError:
        return False


def parts(folder: Path) -> tuple[Part, ...]:
    """The parts of a run directory; files that are not there yet may appear later."""
    console = next((folder / name for name in CONSOLE if (folder / name).is_file()), folder / CONSOLE[0])
    metrics = folder / METRICS
    bare = not metrics.exists() and not (folder / MANIFEST).exists()
    return (
        *beside(folder),
        Part(
            folder / MANIFEST, rank=3, opens=_LaunchedManifest if (folder / LAUNCH).exists() else Manifest, whole=True
        ),
        Part(folder / LAUNCH, rank=4, opens=Launch, whole=True),
        Part(folder / EVENTS, rank=1, opens=Events, ahead=True),
        Part(metrics, rank=2, opens=JsonLines, main=not bare),
        Part(folder / SAMPLES, rank=1, opens=Samples),
        Part(console, rank=1, main=bare, rows=bare, events=not (folder / EVENTS).exists()),
    )


def _sniff(head: Head) -> float:
    """Sure where the content is one JSON object with a manifest's keys."""
    if not head.data.lstrip().startswith(b"{") or b'"status"' not in head.data:
        return 0.0
    try:
        data = parse(head.data)
    except ValueError:
        return 0.0
    return 0.99 if isinstance(data, dict) and {"schema", "id", "status"} <= data.keys() else 0.0


READER = Format(
    "rundir",
    "klinic run directory: run.json, metrics.jsonl, events.jsonl, samples.jsonl, console.log as one run",
    sniff=_sniff,
    open=lambda _: Manifest(),
)
