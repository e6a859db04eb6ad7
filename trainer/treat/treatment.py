"""The treatment of a run: the changes of its prescription, what else could be tried, and the new launch command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Diagnosis, Override
from klinic.diagnostics.engine.settings import is_assumed
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Run
from klinic.trainer.treat.clashes import clashes
from klinic.trainer.treat.origin import Origin, origin

METRICS = "metrics.jsonl"
ACCEPTED = "accepted"  # how the check of an override that verl takes begins


@dataclass(frozen=True)
class Change:
    """One override, and whether its old value is only verl's default because nothing tells the run's own."""

    override: Override
    assumed: bool


@dataclass(frozen=True)
class Treatment:
    """changes: to apply together, in order. alternatives: what else could be tried, one at a time, in order.

    missing: what is not known of the run and what follows from that, in sentences. more: overrides of the user's own.
    """

    path: str
    run: Run
    diagnosis: Diagnosis
    changes: tuple[Change, ...]
    alternatives: tuple[Change, ...]
    origin: Origin
    missing: tuple[str, ...]
    more: tuple[str, ...] = ()

    @property
    def overrides(self) -> list[str]:
        """The texts to put into the launch."""
        return [change.override.override for change in self.changes]

    @property
    def command(self) -> str:
        """The new launch command; empty where nothing is to be changed or the old one is unknown."""
        return self.origin.command([*self.overrides, *self.more]) if self.changes else ""


def read_run(path: Path) -> Run:
    """The run to treat; of a folder with metrics and a console log, the metrics. Raises ReadError."""
    metrics = path / METRICS
    return open_run(metrics if metrics.is_file() and not (path / "run.json").is_file() else path)


def treat(path: Path, run: Run | None = None, more: Sequence[str] = (), **options: Any) -> Treatment:
    """Diagnose the run at `path` and say what to change. options: of `diagnose`. Raises ReadError, CardError.

    more: overrides of the user's own, behind the treatment.
    """
    run = run or read_run(path)
    diagnosis = diagnose(run, **options)
    changes = [Change(one, is_assumed(run, one.key)) for one in diagnosis.prescription]
    first = tuple(change for change in changes if change.override.rank == 1)
    later = tuple(change for change in changes if change.override.rank > 1)
    found = origin(path, run)
    missing = _missing(run, first, found, more)
    return Treatment(str(path), run, diagnosis, first, later, found, tuple(missing), tuple(more))


def _missing(run: Run, changes: tuple[Change, ...], found: Origin, more: Sequence[str]) -> list[str]:
    said = []
    assumed = [change.override.key for change in changes if change.assumed]
    if changes and not run.config:
        said.append("no config: neither the log nor command.txt, overrides.txt or .hydra/ beside it tells the settings")
    if assumed:
        said.append(f"computed from verl's defaults: {', '.join(assumed)}; give the run's own with --config FILE")
    if changes and not found.known and (run.source.framework or "verl") == "verl":
        said.append("the launch command is unknown: put these overrides behind your own, in place of older ones")
    if changes and found.worked_out:
        said.append(
            "the launch is worked out from the settings that the log shows: look at its paths before you start it"
        )
    if changes:
        said.extend(clashes(found, [*(change.override.override for change in changes), *more]))
    return said


def as_json(treatment: Treatment, alternatives: bool) -> Mapping[str, Any]:
    """The treatment as plain data, schema klinic/treat/1."""
    diagnosis = treatment.diagnosis
    data = {
        "schema": "klinic/treat/1",
        "run": treatment.path,
        "verdict": diagnosis.verdict,
        "story": diagnosis.story,
        "root_cause": diagnosis.root_cause,
        "changes": [_plain(change) for change in treatment.changes],
        "command": treatment.command or None,
        "missing": list(treatment.missing),
    }
    return data | ({"alternatives": [_plain(change) for change in treatment.alternatives]} if alternatives else {})


def _plain(change: Change) -> dict[str, Any]:
    one = change.override
    return {
        "rule": {"id": one.id, "name": one.name},
        "key": one.key,
        "old": one.old,
        "new": one.new,
        "override": one.override,
        "because": one.because,
        "effect": one.effect,
        "side_effects": one.side_effects,
        "checked": one.checked,
        "assumed": change.assumed,
    }
