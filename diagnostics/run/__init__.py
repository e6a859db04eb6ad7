"""What a recording holds once it is read: manifest, config, one frame of metrics, lines of note, events."""

from klinic.diagnostics.run.build import RunBuilder
from klinic.diagnostics.run.config import Config, bounded
from klinic.diagnostics.run.events import (
    Block,
    ConfigRead,
    Event,
    Happened,
    InRun,
    Line,
    ManifestRead,
    Meta,
    Note,
    Row,
    SampleRead,
    one_by_one,
)
from klinic.diagnostics.run.model import Attempt, Run, Source
from klinic.diagnostics.run.outline import Outline, outline

__all__ = [
    "Attempt",
    "Block",
    "Config",
    "ConfigRead",
    "Event",
    "Happened",
    "InRun",
    "Line",
    "ManifestRead",
    "Meta",
    "Note",
    "Outline",
    "Row",
    "Run",
    "RunBuilder",
    "SampleRead",
    "Source",
    "bounded",
    "one_by_one",
    "outline",
]
