"""What a recording holds once it is read: manifest, config, one frame of metrics, lines of note, events."""

from klinic.diagnostics.run.build import RunBuilder
from klinic.diagnostics.run.config import Config
from klinic.diagnostics.run.events import (
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
)
from klinic.diagnostics.run.model import Attempt, Run, Source

__all__ = [
    "Attempt",
    "Config",
    "ConfigRead",
    "Event",
    "Happened",
    "InRun",
    "Line",
    "ManifestRead",
    "Meta",
    "Note",
    "Row",
    "Run",
    "RunBuilder",
    "SampleRead",
    "Source",
]
