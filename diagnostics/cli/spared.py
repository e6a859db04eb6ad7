"""What a command reads is never what its report replaces."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click


def spare(outs: Iterable[str], inputs: Iterable[str]) -> None:
    """UsageError where a file to be written is one of those that are read, by whatever name or link.

    inputs: files, folders, addresses, `-`; of a folder, the files that hold its runs.
    """
    taken = [Path(one) for one in inputs if Path(one).exists()]
    for out in outs:
        if out != "-" and Path(out).is_file() and any(_reads(one, Path(out)) for one in taken):
            raise click.UsageError(f"--out {out}: this is read here, and would be replaced; give another name")


def _reads(source: Path, file: Path) -> bool:
    if not source.is_dir():
        return source.samefile(file)
    return file.resolve().is_relative_to(source.resolve()) and (_is_part(source, file) or _has_rows(file))


def _is_part(folder: Path, file: Path) -> bool:
    """Whether a run of several files has this one among them."""
    from klinic.diagnostics.readers import ReadError, plans

    try:
        parts = [part.path for plan in plans(folder) if len(plan.parts) > 1 for part in plan.parts]
    except (ReadError, OSError):
        return False
    return any(part is not None and part.exists() and part.samefile(file) for part in parts)


def _has_rows(file: Path) -> bool:
    """Whether it is a recording by itself; an earlier report is none."""
    from klinic.diagnostics.readers import ReadError, open_runs

    try:
        return any(run.frame.height for run in open_runs(file))
    except ReadError:
        return False
