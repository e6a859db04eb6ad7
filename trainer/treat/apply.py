"""Launch the treated run, in a directory of its own that names its parent and the overrides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from klinic.diagnostics.verlconfig.overrides import override
from klinic.trainer.launch import Options, launch
from klinic.trainer.launch.limits import Limits
from klinic.trainer.launch.plugin import plugin_problem
from klinic.trainer.plan import Plan, PlanError, make_plan
from klinic.trainer.plan.checks import problems
from klinic.trainer.plan.launchfile import OF_ONE_RUN, keep, taken_from
from klinic.trainer.stream import RunDirectory
from klinic.trainer.treat.origin import Origin


def treated_plan(found: Origin, changes: Sequence[str], more: Sequence[str], run_dir: Path) -> Plan:
    """The parent's launch with the changes, and `more` of the user's behind them. Raises PlanError, RecipeError."""
    if found.run_dir is not None:
        recipe, words = taken_from(found.run_dir)
    elif found.text:
        recipe, words = None, [word for word in found.words if (one := override(word)) and one.key not in OF_ONE_RUN]
    else:
        raise PlanError("how the run was launched is unknown: no launch.json, run.json or command.txt beside it")
    replaced = {one.key for text in (*changes, *more) if (one := override(text))}
    kept = [word for word in words if (one := override(word)) is None or one.key not in replaced]
    return make_plan([*kept, *changes, *more], recipe=recipe, run_dir=run_dir)


def next_to(parent: Path) -> Path:
    """A free directory beside a run for its treatment: `<run>-treated`, `<run>-treated-2`, ..."""
    folder = parent if parent.is_dir() else parent.parent
    base = folder.absolute()
    names = (base.with_name(f"{base.name}-treated{'' if n == 1 else f'-{n}'}") for n in range(1, 1000))
    return next(name for name in names if not name.exists())


def refused(plan: Plan) -> None:
    """Raises PlanError for the first thing of a plan that is known to fail."""
    for problem in problems(plan):
        raise PlanError(problem)


def begin(plan: Plan, parent: str, changes: Sequence[str]) -> None:
    """Lay the treated run down: its plan, and what it treats. Raises OSError."""
    plan.run_dir.mkdir(parents=True, exist_ok=True)
    keep(plan)
    with RunDirectory(plan.run_dir) as run:
        run.update(treats={"parent": parent, "overrides": list(changes)})


def train(plan: Plan, parent: str, changes: Sequence[str]) -> int:
    """Launch; gives the launch's exit code. Raises PlanError for what is known to fail, OSError for a full disk."""
    if problem := plugin_problem(plan.cpu):
        raise PlanError(problem)
    refused(plan)
    begin(plan, parent, changes)
    return launch(plan, Options(limits=Limits.usual(plan.cpu)))
