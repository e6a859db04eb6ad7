"""Say what is wrong with a run, why, since which step, and what to change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from klinic.diagnostics.cli.group import heed_ctrl_c, say
from klinic.diagnostics.cli.judging import FAIL_ON, judging_options, many_options, stdin_once
from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.cli.output import check_formats, format_options, write_reports
from klinic.diagnostics.cli.overwrite import refuse_overwrite
from klinic.diagnostics.cli.parsed import Parsed
from klinic.diagnostics.cli.progress import progress
from klinic.diagnostics.language import use_language
from klinic.diagnostics.report.base import wants_rows

if TYPE_CHECKING:
    from klinic.diagnostics.engine.card import Card
    from klinic.diagnostics.report.base import Judged
    from klinic.diagnostics.run import Run
    from klinic.diagnostics.survey.options import JudgeOptions


def _step(text: str) -> int:
    """A step, no larger than a column of the table holds."""
    if not re.fullmatch(r"[+-]?\d{1,18}", text.strip()):
        raise ValueError(f"{text!r} is no step; write a whole number")
    return int(text)


STEP = Parsed("step", _step)


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@format_options("text (default), list, json, markdown, html, png, junit, sarif, github, gitlab; may repeat.")
@judging_options
@click.option("--from", "first", type=STEP, metavar="STEP", help="Judge as if the run began at this step.")
@click.option("--to", "last", type=STEP, metavar="STEP", help="Judge the run as it stood after this step.")
@FAIL_ON
@lang_option
@many_options
def diagnose(
    paths: tuple[str, ...],
    names: tuple[str, ...],
    outs: tuple[str, ...],
    profile: str,
    folders: tuple[str, ...],
    config: str | None,
    settings: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    first: int | None,
    last: int | None,
    fail_on: str,
    jobs: int | None,
    no_cache: bool,
) -> int:
    """Judge runs: logs, metric files, run directories, or - for stdin.

    PATH is verl's console log or JSONL, a klinic run directory, TensorBoard, wandb or CSV data, TRL rows; gzip and zstd
    are seen through; a folder is searched; many runs are judged on all cores, and remembered. Exit status: 0 judged;
    1 a finding or incident reached --fail-on; 2 something could not be read or judged.
    """
    stdin_once(paths)
    names = names or ("text",)
    check_formats(names, outs)
    refuse_overwrite(outs, (*paths, profile, *([config] if config else [])), folders)
    from klinic.diagnostics.survey.options import JudgeOptions

    how = JudgeOptions(
        profile=profile,
        select=select,
        ignore=ignore,
        overrides=overrides_of(settings),
        steps=None if first is None and last is None else (first, last),
        folders=with_cards(folders),
        given=config_of(config) if config else {},
        config=config or "",
    )
    judged, problems = _judge_all(paths, how, any(map(wants_rows, names)), jobs, not no_cache)
    if judged:
        write_reports(judged, names, outs)
    for problem in problems:
        say(problem)
    if problems:
        return 2
    return int(any(case.diagnosis.reaches(fail_on) for case in judged))


def overrides_of(settings: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Rule -> {threshold: value} of `--set`; UsageError for what is no setting."""
    from klinic.diagnostics.engine.overrides import overrides_from

    try:
        return overrides_from(settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def cards_of(folders: tuple[str, ...]) -> tuple[Card, ...] | None:
    """The built-in cards and those of the folders; None where there are none but the built-in ones."""
    from klinic.diagnostics.engine.library import all_cards

    try:
        return all_cards(with_cards(folders)) if folders else None
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from None


def with_cards(folders: tuple[str, ...]) -> tuple[str, ...]:
    """The folders; UsageError for one that holds no card."""
    from klinic.diagnostics.engine.library import card_paths

    for folder in folders:
        if not Path(folder).is_dir():
            raise click.UsageError(f"--rules {folder}: no such folder")
        if not any(card_paths(Path(folder))):
            raise click.UsageError(f"--rules {folder}: no card (*.yaml) in this folder")
    return folders


def _judge_all(
    paths: tuple[str, ...], how: JudgeOptions, whole: bool, jobs: int | None, remember: bool
) -> tuple[list[Judged], list[str]]:
    """Every run that can be judged, and one line for each path or run that cannot. whole: reports want its rows."""
    from klinic.diagnostics.engine.card import CardError
    from klinic.diagnostics.survey.survey import in_a_row, survey

    heed_ctrl_c()
    try:
        with use_language("en"), progress() as seen:  # what is judged is remembered, and read by programs: in English
            return in_a_row(survey(paths, how, jobs=jobs, remember=remember, whole=whole, seen=seen))
    except (OSError, CardError) as error:
        raise click.ClickException(str(error)) from None


def config_of(config: str) -> dict[str, Any]:
    """What a file says of a run's settings; ClickException where that cannot be read."""
    from klinic.diagnostics.readers.configfile import read_config
    from klinic.diagnostics.readers.reading import os_error

    try:
        return read_config(Path(config))
    except OSError as error:
        raise click.ClickException(f"--config {os_error(error, config)}") from None
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def configured(run: Run, config: str) -> Run:
    """The run with what the file `config` says of its settings; ClickException where that cannot be read."""
    from klinic.diagnostics.readers.configfile import with_config

    return with_config(run, config_of(config), config)
