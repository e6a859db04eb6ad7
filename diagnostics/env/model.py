"""A line of the survey, and the machine that the checks look at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from klinic.diagnostics.estimate.gpus import Gpu, gpu_named

Status = Literal["ready", "note", "missing"]


@dataclass(frozen=True)
class Line:
    """One thing that was looked at. fix: what to do, empty where nothing is.

    name: stands in the fact base, `klinic explain NAME` says more. topic: heading it stands under. status: ready, note
    (training works, but read it), missing (training will fail).
    """

    name: str
    topic: str
    found: str
    wanted: str
    fix: str = ""
    status: Status = "ready"


@dataclass(frozen=True)
class Card:
    """A GPU as nvidia-smi reports it. memory_gib: total; used_gib: taken now. capability: None where unknown."""

    name: str
    memory_gib: float
    used_gib: float
    capability: float | None

    @property
    def kind(self) -> Gpu | None:
        """The card of the table of GPUs."""
        return gpu_named(self.name)


@dataclass(frozen=True)
class Machine:
    """What the checks read. root: where /proc, /sys and /dev lie; folder: where runs will be written.

    driver: version of the NVIDIA driver, cuda: newest CUDA that it runs; both empty without one. trouble: why
    nvidia-smi, which is there, says nothing.
    """

    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: Path = field(default_factory=Path)
    root: Path = Path("/")
    cards: tuple[Card, ...] = ()
    driver: str = ""
    cuda: str = ""
    trouble: str = ""

    def variable(self, name: str) -> str:
        """An environment variable, empty where it is not set."""
        return self.environment.get(name, "").strip()


def ready(lines: Iterable[Line]) -> bool:
    """Whether nothing that is wanted is missing."""
    return all(one.status != "missing" for one in lines)
