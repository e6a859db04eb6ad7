"""What a command reads is never what it writes over."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

OWN = (".yaml", ".yml")  # endings of cards and their cases


def refuse_overwrite(
    outs: Iterable[str], inputs: Iterable[str], cards: Iterable[str] = (), option: str = "--out"
) -> None:
    """UsageError where a file to be written is one of those that are read, by whatever name or link.

    inputs: files, folders, addresses, `-`; of a folder, the files that hold its runs. cards: files and folders of
    cards; of a folder, all that it has in YAML. option: what names the file to be written.
    """
    taken, own = _there(inputs), _there(cards)
    for out in outs:
        file = Path(out)
        if blocked := next((str(above) for above in file.parents if above.is_file()), ""):
            raise click.UsageError(f"{option} {out}: {blocked} is a file, not a folder; give another name")
        if out == "-" or not _there([out]) or not file.is_file():
            continue
        if any(_reads(one, file) for one in taken) or any(_is_card(one, file) for one in own):
            raise click.UsageError(f"{option} {out}: this is read here, and would be replaced; give another name")


def _there(names: Iterable[str]) -> list[Path]:
    """Those that are on this machine; a name that no file can have is none of them."""
    found = []
    for name in names:
        try:
            found += [Path(name)] * (name != "" and Path(name).exists())
        except (OSError, ValueError):
            continue
    return found


def _reads(source: Path, file: Path) -> bool:
    if not source.is_dir():
        return source.samefile(file)
    return _is_below(source, file) and (_is_part(source, file) or _has_rows(file))


def _is_card(source: Path, file: Path) -> bool:
    return _is_below(source, file) and file.suffix in OWN if source.is_dir() else source.samefile(file)


def _is_below(folder: Path, file: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())


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
