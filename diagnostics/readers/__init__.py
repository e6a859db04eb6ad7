"""Open any recording: `open_run(path)` for one run, `open_runs(path)` for all that a file or folder holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from klinic.diagnostics.readerror import ClosedError, ReadError
from klinic.diagnostics.readers.find import MAX_FILES, plans
from klinic.diagnostics.readers.reading import Plan, counts, read
from klinic.diagnostics.readers.registry import ADVICE, readers
from klinic.diagnostics.readers.sources.remote import is_remote, local
from klinic.diagnostics.run import Run

__all__ = ["MAX_FILES", "ReadError", "no_run", "open_run", "open_runs", "plans", "readers", "remarks"]


def open_runs(path: str | Path) -> list[Run]:
    """One `Run` for each run found: in a file, in stdin (`-`), in a run directory, in a folder and those below.

    Raises ReadError, with a message of one line, where there is none.
    """
    found = plans(path)
    if str(path) == "-" or not _is_folder(path):
        return [run for plan in found for run in read(plan)]
    return _searched(path, found)


def _is_folder(path: str | Path) -> bool:
    return (local(str(path)) if is_remote(path) else Path(path)).is_dir()


def open_run(path: str | Path) -> Run:
    """The single run of a path; ReadError where there is none or more than one."""
    runs = open_runs(path)
    if len(runs) > 1:
        shown = ", ".join(run.source.path for run in runs[:3])
        raise ReadError(f"{path}: holds {len(runs)} runs ({shown}{', ...' if len(runs) > 3 else ''}); name one of them")
    return runs[0]


def _searched(path: str | Path, found: list[Plan]) -> list[Run]:
    runs, failed = [], []
    for plan in found[:MAX_FILES]:
        try:
            runs += [run for run in read(plan) if counts(run, single=len(found) == 1)]
        except ReadError as error:
            failed.append(error)
    closed = [str(error) for error in failed if isinstance(error, ClosedError)]
    notes = remarks(path, len(found), closed)
    if runs:
        return [replace(runs[0], notes=(*runs[0].notes, *notes)), *runs[1:]] if notes else runs
    if len(failed) == len(found) == 1:
        raise failed[0]
    raise ReadError(no_run(path, len(found), notes))


def remarks(path: str | Path, found: int, closed: Sequence[str]) -> list[str]:
    """What to say of a searched folder besides its runs. found: plans. closed: why files could not be opened."""
    notes = [f"{len(closed)} files or folders could not be opened (first: {closed[0]})"] if closed else []
    if found > MAX_FILES:
        notes.append(f"only the first {MAX_FILES} files of {path} were searched")
    return notes


def no_run(path: str | Path, found: int, notes: Sequence[str]) -> str:
    """That a searched folder holds no run."""
    return f"{path}: no run in {found} files; {'; '.join(notes) or ADVICE}"
