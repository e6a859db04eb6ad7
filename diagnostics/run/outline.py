"""What a report says of a run itself, without its rows: small enough to keep of thousands of runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from klinic.diagnostics.run.config import Config
from klinic.diagnostics.run.model import Attempt, Run, Source


@dataclass(frozen=True)
class Outline:
    """A run without its rows, under the same names as in `Run`. steps: lowest and highest, None without rows."""

    source: Source = field(default_factory=Source)
    steps: tuple[int, int] | None = None
    rows: int = 0
    attempts: tuple[Attempt, ...] = ()
    config: Config = field(default_factory=Config)
    notes: tuple[str, ...] = ()


def outline(run: Run) -> Outline:
    """The outline of a run."""
    config = Config(dict(run.config.values), run.config.user, run.config.where)
    return Outline(run.source, run.steps, run.rows, run.attempts, config, run.notes)
