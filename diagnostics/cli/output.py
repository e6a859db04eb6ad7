"""Write reports: to stdout in colour where it is a terminal, or to files, whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from klinic.diagnostics.language import Lang, current_language, use_language
from klinic.diagnostics.report.base import REPORTS, SHEETS, formats, load
from klinic.diagnostics.report.sheet import Ready, Sheet
from klinic.diagnostics.suggest import nearest

Command = TypeVar("Command", bound=Callable[..., Any])


def format_options(known: str) -> Callable[[Command], Command]:
    """The options `--format` and `--out` of a command. known: the formats it has, for its help."""

    def given(command: Command) -> Command:
        out = "The n-th belongs to the n-th --format; - is stdout."
        command = click.option("--out", "-o", "outs", multiple=True, metavar="FILE", help=out)(command)
        return click.option("--format", "-f", "names", multiple=True, metavar="FORMAT", help=known)(command)

    return given


def check_formats(names: Sequence[str], outs: Sequence[str], group: str = REPORTS) -> None:
    """UsageError for an unknown format or for more files than formats."""
    known = list(formats(group))
    for name in names:
        if name not in known:
            raise click.UsageError(f"no report format {name!r}{nearest(name, known)}; there are {', '.join(known)}")
    if len(outs) > max(1, len(names)):
        raise click.UsageError(f"{len(outs)} times --out but {len(names)} times --format: the n-th belongs to the n-th")
    for out in outs:
        if not out or Path(out).is_dir():
            raise click.UsageError(f"--out {out!r}: give the name of a file")
        if out != "-" and outs.count(out) > 1:
            raise click.UsageError(f"--out {out} twice: one report would replace the other")


def write_reports(judged: Sequence[Any], names: Sequence[str], outs: Sequence[str], group: str = REPORTS) -> None:
    """Render each format; the n-th file belongs to the n-th format, formats without a file go to stdout.

    Where a GitHub job asks for annotations, its summary page (GITHUB_STEP_SUMMARY) gets the report too.

    Raises ClickException where a file cannot be written.
    """
    for index, name in enumerate(names):
        out = outs[index] if index < len(outs) else "-"
        with use_language(_lang_of(name)):
            if out == "-":
                _to_stdout(load(name, group)(judged, color=_colorful(), width=_width()))
            else:
                _to_file(Path(out), load(name, group)(judged))
        if name == "github":
            _to_summary(judged)


PEOPLE = ("text", "markdown", "html", "png")  # formats in the language that is spoken; programs read English


def _lang_of(name: str) -> Lang:
    return current_language() if name in PEOPLE else "en"


def langs_of(names: Sequence[str]) -> tuple[Lang, ...]:
    """The languages in which these formats are written."""
    return tuple(sorted(set(map(_lang_of, names))))


def write_sheets(make: Callable[[], Sequence[Sheet]], names: Sequence[str], outs: Sequence[str]) -> Sequence[Sheet]:
    """Write sheets in each format, made in the language of that format; gives those that were made first."""
    made: dict[Lang, Sequence[Sheet]] = {}
    for index, name in enumerate(names):
        lang = _lang_of(name)
        with use_language(lang):
            made[lang] = made[lang] if lang in made else make()
            write_reports([Ready(sheet) for sheet in made[lang]], [name], outs[index : index + 1], SHEETS)
    return next(iter(made.values()))


def _to_summary(judged: Sequence[Any]) -> None:
    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if not page:
        return
    try:
        with Path(page).open("a", encoding="utf-8", errors="replace") as file:
            file.write(str(load("markdown", SHEETS)(judged)) + "\n")
    except OSError as error:
        raise click.ClickException(f"GITHUB_STEP_SUMMARY={page}: cannot be written: {error.strerror}") from None


def _colorful() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _width() -> int:
    return min(100, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 80


def _to_stdout(report: str | bytes) -> None:
    if isinstance(report, bytes):
        sys.stdout.buffer.write(report)
    else:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(report.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def _to_file(path: Path, report: str | bytes) -> None:
    from klinic.diagnostics.files.outfile import write_file

    try:
        write_file(path, report if isinstance(report, bytes) else report.encode(errors="replace"))
    except OSError as error:
        raise click.ClickException(f"{path}: cannot write the report: {error.strerror}") from None
