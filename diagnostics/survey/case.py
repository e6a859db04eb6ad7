"""What reading and judging the runs of one plan gives, as a value that can be sent and stored."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from klinic.diagnostics.engine.card import CardError
from klinic.diagnostics.engine.diagnose import between, diagnose
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.readerror import ClosedError
from klinic.diagnostics.readers import ReadError
from klinic.diagnostics.readers.configfile import with_config
from klinic.diagnostics.readers.reading import Plan, counts, read
from klinic.diagnostics.report.sheet import Item
from klinic.diagnostics.run import Run
from klinic.diagnostics.run.outline import Outline, outline
from klinic.diagnostics.survey.options import JudgeOptions

Kind = Literal["", "unread", "closed", "lost"]


@dataclass(frozen=True)
class Case:
    """A run, in outline where its rows are not asked for, and its diagnosis; or the reason why there is none.

    demanded: what came of what is asked of the run besides, by language.
    """

    run: Run | Outline
    diagnosis: Diagnosis | None = None
    problem: str = ""
    demanded: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class PlanResult:
    """The cases of one plan, in order.

    failed: why there is none, "" where there is. kind: unread (in no known format), closed (it may not be opened), lost
    (by a fault of klinic). keep: the same would be found again as long as no file and no rule changes.
    """

    cases: tuple[Case, ...] = ()
    failed: str = ""
    kind: Kind = ""
    keep: bool = True


def examine(plan: Plan, single: bool, how: JudgeOptions, whole: bool = False) -> PlanResult:
    """Read and judge the runs of a plan; what goes wrong there is said in the result.

    single: it is all that was asked for, and so counts as a run whatever its name. whole: keep the rows.
    Raises CardError for a card that cannot be used, which is the trouble of all runs.
    """
    try:
        runs = [run for run in read(plan) if counts(run, single=single)]
        return PlanResult(tuple(judged(run, how, whole) for run in runs), keep=not any(map(_is_going, runs)))
    except ClosedError as error:
        return PlanResult(failed=str(error), kind="closed", keep=False)
    except ReadError as error:
        return PlanResult(failed=str(error), kind="unread")
    except CardError:
        raise
    except Exception as error:  # a fault of klinic: this run's trouble must not end the judging of all others
        if os.environ.get("KLINIC_TRACEBACK"):
            raise
        return lost(plan, f"internal error: {type(error).__name__}: {error} (KLINIC_TRACEBACK=1 shows where)")


def lost(plan: Plan, why: str) -> PlanResult:
    """What is left of a plan whose reading or judging broke down."""
    return PlanResult(failed=f"{plan.path}: {why}", kind="lost", keep=False)


def judged(run: Run, how: JudgeOptions, whole: bool = False) -> Case:
    """What is found in one run. Raises CardError."""
    run = prepared(run, how)
    kept = run if whole else outline(run)
    demanded = how.asked.told(run) if how.asked else {}
    try:
        return Case(kept, judge(run, how), demanded=demanded)
    except ReadError as error:
        return Case(kept, problem=str(error), demanded=demanded)


def prepared(run: Run, how: JudgeOptions) -> Run:
    """The run with the config that a file gives it, in the steps that are to be judged."""
    if how.config:
        run = with_config(run, dict(how.given), how.config)
    return between(run, *how.steps) if how.steps else run


def judge(run: Run, how: JudgeOptions) -> Diagnosis:
    """The diagnosis of a prepared run. Raises JudgeError and CardError."""
    return diagnose(
        run,
        cards=how.cards(),
        profile=how.profile,
        select=how.select,
        ignore=how.ignore,
        overrides=how.overrides,
        steps=how.steps,
    )


def _is_going(run: Run) -> bool:
    """Whether a writer may still live: what is said of such a run hangs on the time and on its process."""
    return run.manifest.get("status") == "running"
