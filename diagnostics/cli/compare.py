"""Compare runs: regressions against a baseline or several, where they part, what differs, what explains it."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from klinic.diagnostics.cli.check import runs_of
from klinic.diagnostics.cli.group import fail, say
from klinic.diagnostics.cli.judging import LEVELS, stdin_once
from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.cli.output import check_formats, format_options, write_sheets
from klinic.diagnostics.cli.overwrite import refuse_overwrite
from klinic.diagnostics.report.base import SHEETS

if TYPE_CHECKING:
    from klinic.diagnostics.report.sheet import Sheet
    from klinic.diagnostics.run import Run


@click.command()
@click.argument("paths", metavar="A B | RUN...", nargs=-1, required=True)
@click.option(
    "--baseline", "-b", "sets", multiple=True, metavar="PATH", help="A run or a folder of runs (seeds); may repeat."
)
@click.option(
    "--fail-on",
    type=click.Choice(LEVELS),
    default="error",
    show_default=True,
    help="A finding that the baselines lack fails from this level on.",
)
@click.option("--ignore", multiple=True, metavar="METRIC", help="Leave metrics out, as in 'perf/*'; may repeat.")
@click.option("--verbose", "-v", is_flag=True, help="Show each metric that passed, not their number alone.")
@format_options("text, json, markdown, junit, sarif, github, gitlab")
@lang_option
def compare(
    paths: tuple[str, ...],
    sets: tuple[str, ...],
    fail_on: str,
    ignore: tuple[str, ...],
    verbose: bool,
    names: tuple[str, ...],
    outs: tuple[str, ...],
) -> int:
    """Compare run B with A, or every RUN with a set of baselines.

    \b
    klinic compare runs/yesterday runs/today
    klinic compare runs/today --baseline runs/good-s1 --baseline runs/good-s2

    A metric regresses where it is worse than the baselines' band of noise; several seeds make it a band that is worth
    the name. Exit status: 0 no regression; 1 one, or a new finding at --fail-on; 2 something could not be read or
    compared.
    """
    names = names or ("text",)
    check_formats(names, outs, SHEETS)
    refuse_overwrite(outs, (*paths, *sets))
    if not sets and len(paths) != 2:
        raise click.UsageError(f"give two runs, A and B, or --baseline; paths given: {len(paths)}")
    stdin_once([*paths, *sets])
    baselines = _baselines(sets or paths[:1])
    read = [(path, runs_of(path)) for path in (paths if sets else paths[1:])]

    _say_unmatched(ignore, [*baselines, *(run for _, runs in read if not isinstance(runs, str) for run in runs)])

    def make() -> list[Sheet]:
        made = [sheet for path, runs in read for sheet in _sheets(path, runs, baselines, fail_on, ignore)]
        return [replace(sheet, folds=()) for sheet in made] if verbose else made

    made = write_sheets(make, names, outs)
    for sheet in made:
        for item in sheet.of("unsure"):
            say(item.message)
    return max(sheet.code for sheet in made)


def _say_unmatched(ignore: tuple[str, ...], runs: list[Run]) -> None:
    """A pattern that leaves nothing out is a typing error, or of a metric that these runs happen not to have."""
    names = {name for run in runs for name in run.metrics}
    for word in ignore:
        if not any(fnmatchcase(name, word) for name in names):
            say(f"--ignore {word}: no metric of these runs has such a name")


def _baselines(paths: tuple[str, ...]) -> list[Run]:
    """The baselines; all must be readable, or a gap would make the band narrower unseen."""
    runs: list[Run] = []
    for path in paths:
        found = runs_of(path)
        if isinstance(found, str):
            fail(f"baseline {found}")
        runs += found
    return runs


def _sheets(
    path: str, runs: list[Run] | str, baselines: list[Run], fail_on: str, ignore: tuple[str, ...]
) -> list[Sheet]:
    from klinic.diagnostics.engine.model import Severity
    from klinic.diagnostics.gate.check import unread
    from klinic.diagnostics.gate.compare import TOOL, is_same
    from klinic.diagnostics.gate.compare import compare as judge

    if isinstance(runs, str):
        return [unread(path, runs, TOOL)]
    fails = None if fail_on == "never" else Severity[fail_on.upper()]
    made = []
    for run in runs:  # a run inside the folder of baselines is no baseline of itself
        others = [one for one in baselines if not is_same(one.source.path, run.source.path)]
        made.append(judge(run, others or baselines, fails, ignore))
    return made
