"""Read and judge the runs of paths: remembered ones at once, the others on as many cores as pay."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from klinic.diagnostics.readers import ReadError, find, no_run, plans, remarks
from klinic.diagnostics.readers.reading import Plan, os_error
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.survey import pool
from klinic.diagnostics.survey.case import Case, PlanResult, examine, lost
from klinic.diagnostics.survey.options import JudgeOptions

LITTLE = 8  # runs that are judged sooner than all rules are hashed
BYTES = 10_000_000  # that take about as long as a small run


@dataclass(frozen=True)
class Job:
    """A plan to be judged. single: it is all that its path holds. whole: its rows are asked for."""

    plan: Plan
    single: bool
    how: JudgeOptions
    whole: bool = False


@dataclass(frozen=True)
class AtPath:
    """What there is at one path. notes: on the search for runs. said: a line for each run that cannot be judged, or
    one that says why there is none."""

    path: str
    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    said: tuple[str, ...]


def survey(
    paths: Sequence[str],
    how: JudgeOptions,
    *,
    jobs: int | None = None,
    remember: bool = True,
    whole: bool = False,
    seen: Callable[[int, int], None] = lambda done, total: None,
) -> list[AtPath]:
    """What there is at each path, its runs judged.

    jobs: processes at most, never more than cores; None for one a core. remember: look up what was found before, and
    keep what is found. whole: with their rows, which are neither remembered nor sent from process to process.
    seen: is told after each run how many of how many are done.
    Raises CardError or OSError for options that fit no card.
    """
    listed = [_listed(path) for path in paths]
    wanted = [Job(plan, len(found) == 1, how, whole) for found, _ in listed for plan in found[: find.MAX_FILES]]
    results = _counted(_found(wanted, 1 if whole else jobs, remember and not whole), len(wanted), seen)
    told: list[AtPath] = []
    for path, (found, problem) in zip(paths, listed, strict=True):
        one = _told(path, len(found), list(islice(results, min(len(found), find.MAX_FILES))))
        told.append(replace(one, said=(problem,)) if problem else one)
    return told


def in_a_row(found: Sequence[AtPath]) -> tuple[list[Judged], list[str]]:
    """The runs that could be judged, in order; and a line for each path or run that could not."""
    judged: list[Judged] = []
    problems: list[str] = []
    for one in found:
        cases = _noted(list(one.cases), one.notes)
        judged += [Judged(case.run, case.diagnosis) for case in cases if case.diagnosis is not None]
        problems += [*one.said, *(case.problem for case in cases if case.problem)]
    return judged, problems


def _counted(results: Iterator[PlanResult], total: int, seen: Callable[[int, int], None]) -> Iterator[PlanResult]:
    for done, one in enumerate(results, 1):
        seen(done, total)
        yield one


def _told(path: str, count: int, results: Sequence[PlanResult]) -> AtPath:
    """What there is at one path that has so many plans."""
    closed = [one.failed for one in results if one.kind == "closed"]
    cases = tuple(case for one in results for case in one.cases)
    said = [one.failed for one in results if one.kind == "lost"]
    notes = remarks(path, count, closed)
    if not cases and not said:
        said = [results[0].failed if count == 1 and results[0].failed else no_run(path, count, notes)]
    return AtPath(path, cases, tuple(notes), tuple(said))


def _noted(cases: list[Case], notes: Sequence[str]) -> list[Case]:
    """The cases, with the notes at the first one that is judged."""
    first = next((index for index, case in enumerate(cases) if case.diagnosis is not None), None)
    if first is not None and notes:
        judged = cases[first].diagnosis
        told = replace(judged, notes=(*judged.notes, *notes))  # type: ignore[union-attr, type-var]
        cases[first] = replace(cases[first], diagnosis=told)
    return cases


def _listed(path: str) -> tuple[list[Plan], str]:
    """The plans of a path; or why there are none."""
    try:
        return plans(path), ""
    except ReadError as error:
        return [], str(error)
    except OSError as error:
        return [], os_error(error, path)


def _found(wanted: Sequence[Job], count: int | None, remember: bool) -> Iterator[PlanResult]:
    """What there is in each plan, in order."""
    if not remember or len(wanted) < LITTLE:
        yield from _judged(wanted, count)
        return
    from klinic.diagnostics.survey.index import opened, stamp

    index = opened(wanted[0].how.fingerprint())
    marks = [stamp(job.plan) for job in wanted]
    known = [index.get(job.plan, job.single, mark) for job, mark in zip(wanted, marks, strict=True)]
    fresh = _judged([job for job, one in zip(wanted, known, strict=True) if one is None], count)
    try:
        for job, mark, one in zip(wanted, marks, known, strict=True):
            if one is None:
                one = next(fresh)
                index.put(job.plan, job.single, mark, one)
            yield one
    finally:
        fresh.close()
        index.close()


def _judged(jobs: Sequence[Job], count: int | None) -> Generator[PlanResult, None, None]:
    """What there is in each plan; read and judged in this process where others would not pay."""
    if not jobs:
        return
    jobs[0].how.check()
    results = pool.each(examined, jobs, jobs=count, weight=sum(map(_weight, jobs)))
    for job, found in zip(jobs, results, strict=True):
        yield lost(job.plan, found.why) if isinstance(found, pool.WorkerDied) else found


def examined(job: Job) -> PlanResult:
    """What there is in one plan."""
    return examine(job.plan, job.single, job.how, job.whole)


def _weight(job: Job) -> float:
    """How long a plan takes, in small runs; empty files take no time."""
    size = sum(part.path.stat().st_size for part in job.plan.parts if part.path and part.path.exists())
    return (size > 0) + size / BYTES
