"""One trial: a recorded fault, a remedy computed from the recording alone, the treated run, and how it ended."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import ReadError, open_run
from klinic.diagnostics.verlconfig.spelling import spelt
from klinic.trainer.launch import Options, launch
from klinic.trainer.plan import Plan, PlanError, make_plan
from klinic.trainer.plan.checks import problems
from klinic.trainer.recipes import Recipe
from klinic.trainer.record import INTERRUPTED, folder, overrides, record
from klinic.trainer.recording import machine
from klinic.trainer.stream import hardware, versions
from klinic.trainer.treat.apply import begin
from klinic.trainer.treat.outcome import Band, Outcome, algorithm, bands, final_score, judge, names

PACKAGES = ("klinic", "python", "verl", "torch", "transformers", "ray")
Launcher = Callable[[Plan], int]


class TrialError(RuntimeError):
    """A trial that cannot be made; one line."""


class Interrupted(Exception):  # noqa: N818  a wish, no error
    """Ctrl-C or SIGTERM; args[0] is the exit code."""


@dataclass(frozen=True)
class Remedy:
    """What was found in a recording and what is to be changed: `changes` are (key, old, new) for the table."""

    findings: tuple[str, ...]
    overrides: tuple[str, ...]
    changes: tuple[tuple[str, str, str], ...]


def remedy(recording: Path) -> Remedy:
    """Diagnose a recording and take the first remedies. Nothing but the recording is read. Raises ReadError."""
    diagnosis = diagnose(open_run(recording))
    first = [one for one in diagnosis.prescription if one.rank == 1]
    changes = ((one.key, spelt(one.old), spelt(one.new)) for one in first)
    return Remedy(tuple(names(diagnosis)), tuple(one.override for one in first), tuple(changes))


@dataclass(frozen=True)
class Trial:
    """Where trials find recordings and put runs. steps: length of the treated run, as the fault was recorded."""

    samples: Path
    work: Path
    steps: int = 40
    start: Launcher = lambda plan: launch(plan, Options(diagnose=False))

    def run(self, recipe: Recipe, seed: int) -> dict[str, Any]:
        """The row of one trial. Raises TrialError, Interrupted; launches what is missing."""
        began = time.monotonic()
        recording = self._recorded(recipe, seed)
        fault = open_run(recording)
        band = self._band(algorithm(fault))
        found = remedy(recording)
        outcome = self._treat(recipe, seed, recording, found.overrides, band) if found.overrides else None
        return {
            "recipe": recipe.name,
            "seed": seed,
            "findings": list(found.findings),
            "changes": [list(change) for change in found.changes],
            "overrides": list(found.overrides),
            "healthy": {"low": round(band.low, 4), "mean": round(band.mean, 4), "runs": band.runs},
            "fault": final_score(fault),
            "treated": outcome.score if outcome else None,
            "late_findings": list(outcome.loud) if outcome else [],
            "cured": bool(outcome and outcome.cured),
            "seconds": round(time.monotonic() - began),
            "machine": machine(hardware()),
            "versions": {name: version for name, version in versions().items() if name in PACKAGES},
        }

    def _recorded(self, recipe: Recipe, seed: int) -> Path:
        target = folder(self.samples, recipe, seed)
        if (target / "expected.yaml").is_file():
            return target
        code = record(recipe, seed, self.steps, target, self.work.absolute() / target.name)
        if code in INTERRUPTED:
            raise Interrupted(code)
        if not (target / "expected.yaml").is_file():
            raise TrialError(f"{target}: the fault could not be recorded (exit code {code})")
        return target

    def _band(self, kind: str) -> Band:
        found = bands(self.samples / "healthy").get(kind)
        if found is None:
            raise TrialError(f"{self.samples / 'healthy'}: no healthy recording with the estimator {kind or 'unknown'}")
        return found

    def _treat(self, recipe: Recipe, seed: int, parent: Path, changes: Sequence[str], band: Band) -> Outcome:
        """Launch the recipe as it was recorded, with the changes behind it, and judge how it ends."""
        work = self.work.absolute() / f"{recipe.name}-s{seed}-treated"
        if work.exists():
            shutil.rmtree(work)
        plan = self._plan(recipe, seed, changes, work)
        begin(plan, str(parent), changes)
        code = self.start(plan)
        if code in INTERRUPTED:
            raise Interrupted(code)
        try:
            treated = open_run(work)
        except ReadError as error:
            raise TrialError(f"{work}: the treated run cannot be judged (exit code {code}): {error}") from None
        if treated.steps is None:  # a launch that failed says nothing about the remedy
            raise TrialError(f"{work}: the treated run made no step (exit code {code}); its console.log says why")
        return judge(treated, band, self.steps)

    def _plan(self, recipe: Recipe, seed: int, changes: Sequence[str], work: Path) -> Plan:
        try:
            plan = make_plan([*overrides(seed, self.steps), *changes], recipe=recipe.name, run_dir=work)
        except PlanError as error:
            raise TrialError(str(error)) from None
        if found := problems(plan):
            raise TrialError(f"{recipe.name}: {found[0]}")
        return plan
