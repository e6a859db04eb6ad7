"""Bring a run that was stopped for a finding back to life: an earlier checkpoint, the treatment, the same directory."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from klinic.diagnostics.engine.diagnose import between
from klinic.diagnostics.readers import ReadError, open_run
from klinic.diagnostics.run import Run
from klinic.diagnostics.run.state import BY_FINDING
from klinic.diagnostics.verlconfig.overrides import override
from klinic.trainer.plan import Plan, PlanError, make_plan
from klinic.trainer.plan.checks import problems
from klinic.trainer.plan.launchfile import keep
from klinic.trainer.stream import StreamError, note
from klinic.trainer.stream.control import STOPPED_ILL
from klinic.trainer.stream.manifest import read as read_manifest
from klinic.trainer.treat.show import nothing
from klinic.trainer.treat.treatment import Treatment, treat

LATEST = "latest_checkpointed_iteration.txt"
# A checkpoint's optimiser and scheduler bring their old learning rate along: where the treatment changes an optimiser,
# that engine takes its weights only.
OPTIMISERS = {
    "actor_rollout_ref.actor.optim.": "actor_rollout_ref.actor.checkpoint.load_contents=[model]",
    "critic.optim.": "critic.checkpoint.load_contents=[model]",
}
_STEP = re.compile(r"global_step_(\d+)")


class RescueError(RuntimeError):
    """Why a run cannot be rescued; one line."""


@dataclass(frozen=True)
class Rescue:
    """What is done: from which checkpoint (None: from the start), with which overrides, for which finding."""

    number: int
    checkpoint: Path | None
    overrides: tuple[str, ...]
    finding: str
    onset: int
    words: tuple[str, ...] = ()

    @property
    def step(self) -> int:
        """The step that is gone back to."""
        return step_of(self.checkpoint) if self.checkpoint else 0


def rescued(
    plan: Plan,
    recipe: str | None,
    most: int,
    start: Callable[[Plan], int],
    say: Callable[[str], None] = lambda _: None,
) -> int:
    """Launch the plan, and again after each stop for a finding, at most `most` times; gives the last exit code.

    recipe: its name or file as the user gave it. start: launches a plan and gives its exit code. say: takes a line for
    the user.
    """
    changes: list[str] = []
    code = start(plan)
    for number in range(1, most + 1):
        if code != STOPPED_ILL:
            break
        try:
            rescue = prepare(plan, number)
            changes = _merged(changes, rescue.overrides)
            next_plan = replanned(plan, recipe, changes, rescue)
        except (RescueError, PlanError, ReadError, OSError) as error:
            _gave_up(plan.run_dir, number, str(error), say)
            return code
        _begin(next_plan, rescue, most, say)
        code = start(next_plan)
    if code == STOPPED_ILL and most:
        _gave_up(plan.run_dir, most, f"it fell ill again after {most} rescue{'s' * (most > 1)}", say)
    elif changes:
        _note(plan.run_dir, "rescue ended", None, exit_code=code, overrides=changes)
    return code


def prepare(plan: Plan, number: int) -> Rescue:
    """What is to be done for a run that was stopped. Raises RescueError, ReadError."""
    stop = read_manifest(plan.run_dir / "run.json").get("stopped_by") or {}
    if stop.get("by") != BY_FINDING or not isinstance(stop.get("onset"), int):
        raise RescueError("the run does not say for which finding it was stopped")
    found = treat(plan.run_dir, lineage(open_run(plan.run_dir)))
    if not found.changes:
        raise RescueError(_incurable(found))
    checkpoint = before(checkpoints(plan), stop["onset"])
    name = str((stop.get("finding") or {}).get("name", ""))
    overrides = tuple(found.overrides)
    return Rescue(number, checkpoint, overrides, name, stop["onset"], tuple(_resume(checkpoint, overrides)))


def _incurable(found: Treatment) -> str:
    return nothing(found)[:1].lower() + nothing(found)[1:]


def lineage(run: Run) -> Run:
    """The rows from which the present weights come: of each attempt those before the step that the next began at."""
    keep_rows = pl.Series([True] * run.frame.height, dtype=pl.Boolean)
    for later in run.attempts[1:]:
        gone = (run.frame["attempt"] < later.number) & (run.frame["step"] >= max(1, later.first_step))
        keep_rows = keep_rows & ~gone
    frame = run.frame.filter(keep_rows)
    nonfinite = run.nonfinite.filter(keep_rows) if run.nonfinite.width else run.nonfinite
    return between(replace(run, frame=frame, nonfinite=nonfinite), None, None)


def checkpoints(plan: Plan) -> list[Path]:
    """Whole checkpoints of the run, in order of their steps."""
    folder = Path(str(plan.settings["trainer.default_local_dir"]))
    found = [each for each in folder.glob("global_step_*") if _STEP.fullmatch(each.name) and (each / "actor").is_dir()]
    return sorted(found, key=step_of)


def step_of(checkpoint: Path) -> int:
    """The step of a checkpoint's folder."""
    hit = _STEP.fullmatch(checkpoint.name)
    return int(hit[1]) if hit else 0


def before(found: Sequence[Path], onset: int) -> Path | None:
    """The last checkpoint before a step; None where there is none: the run then begins anew."""
    return next((each for each in reversed(found) if step_of(each) < onset), None)


def _resume(checkpoint: Path | None, overrides: Sequence[str]) -> list[str]:
    """Overrides of this launch alone."""
    if checkpoint is None:
        return ["trainer.resume_mode=disable"]
    words = ["trainer.resume_mode=resume_path", f"trainer.resume_from_path={checkpoint}"]
    keys = [one.key for text in overrides if (one := override(text))]
    return words + [word for part, word in OPTIMISERS.items() if any(key.startswith(part) for key in keys)]


def _merged(older: Sequence[str], newer: Sequence[str]) -> list[str]:
    """All changes so far, the newest of each key."""
    replaced = _keys(newer)
    return [*(text for text in older if not _keys([text]) & replaced), *newer]


def _keys(texts: Sequence[str]) -> set[str]:
    return {one.key for text in texts if (one := override(text))}


def replanned(plan: Plan, recipe: str | None, changes: Sequence[str], rescue: Rescue) -> Plan:
    """The plan with all changes so far and the resume in it. Raises PlanError for what is known to fail."""
    ours = [*changes, *rescue.words]
    kept = [text for text in plan.user if not _keys([text]) & _keys(ours)]
    made = make_plan([*kept, *ours], recipe=recipe, run_dir=plan.run_dir, machine=plan.machine)
    for problem in problems(made):
        raise PlanError(problem)
    return made


def _begin(plan: Plan, rescue: Rescue, most: int, say: Callable[[str], None]) -> None:
    """Set the later checkpoints aside, write down what is done, and say it."""
    aside = _set_aside(plan, rescue)
    data: dict[str, Any] = {
        "rescue": rescue.number,
        "of": most,
        "finding": rescue.finding,
        "onset": rescue.onset,
        "from_checkpoint": rescue.step or None,
        "overrides": list(rescue.overrides),
        "resume": list(rescue.words),
        "set_aside": aside,
    }
    _note(plan.run_dir, "rescue", rescue.step, **data)
    keep(plan)
    back = (
        f"back to the checkpoint of step {rescue.step}" if rescue.step else "no checkpoint before that: from the start"
    )
    say(f"rescue {rescue.number} of {most}: {rescue.finding} began at step {rescue.onset}; {back}")
    for text in rescue.overrides:
        say(f"  {text}")


def _set_aside(plan: Plan, rescue: Rescue) -> list[str]:
    """Move the checkpoints that hold the illness out of the way, so that no resume takes them up."""
    moved = []
    for each in checkpoints(plan):
        if step_of(each) > rescue.step:
            place = each.parent / f"before_rescue_{rescue.number}" / each.name
            place.parent.mkdir(exist_ok=True)
            shutil.move(each, place)
            moved.append(f"{place.parent.name}/{place.name}")
    latest = Path(str(plan.settings["trainer.default_local_dir"])) / LATEST
    if rescue.checkpoint is not None:
        latest.write_text(str(rescue.step), "utf-8")
    else:
        latest.unlink(missing_ok=True)
    return moved


def _gave_up(run_dir: Path, number: int, why: str, say: Callable[[str], None]) -> None:
    _note(run_dir, "rescue given up", None, rescue=number, reason=why)
    say(f"no rescue: {why}; {run_dir} stays stopped, with its checkpoint")


def _note(run_dir: Path, kind: str, step: int | None, **data: Any) -> None:
    with contextlib.suppress(StreamError):  # a full disk is told by whoever trains
        note(run_dir, kind, step, **data)
