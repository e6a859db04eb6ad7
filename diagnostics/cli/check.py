"""Gate a pipeline: hold runs to requirements and rules, for CI."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from klinic.diagnostics.cli.group import fail, heed_ctrl_c, say
from klinic.diagnostics.cli.judging import LEVELS, many_options, stdin_once
from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.cli.output import check_formats, format_options, langs_of, write_sheets
from klinic.diagnostics.cli.overwrite import refuse_overwrite
from klinic.diagnostics.cli.progress import progress
from klinic.diagnostics.language import Lang, use_language
from klinic.diagnostics.report.base import SHEETS

if TYPE_CHECKING:
    from klinic.diagnostics.gate.requirement import Requirement
    from klinic.diagnostics.gate.settings import Settings
    from klinic.diagnostics.report.sheet import Sheet
    from klinic.diagnostics.run import Run
    from klinic.diagnostics.survey.survey import AtPath


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("--config", metavar="FILE", help="What to ask [klinic.yaml in this folder, where it has `check:`].")
@click.option(
    "--require", "-r", "typed", multiple=True, metavar="'METRIC[-K:].STAT() >= X'", help="A requirement; may repeat."
)
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Fail a run with fewer steps.")
@click.option("--key", "keys", multiple=True, metavar="METRIC", help="Fail a run without this metric; may repeat.")
@click.option("--fail-on", type=click.Choice(LEVELS), help="Fail on findings and incidents from this level on [error].")
@click.option("--rule", "rules", multiple=True, metavar="RULE", help="A rule that fails at any level; may repeat.")
@click.option("--profile", metavar="NAME", help="default, strict, seed, or a profile of your own [default].")
@format_options("text, json, markdown, junit, sarif, github, gitlab")
@lang_option
@many_options
@click.option("--init", "good", metavar="RUN", help="Write klinic.yaml from a good run, and its schema for editors.")
@click.option("--force", is_flag=True, help="With --init: replace klinic.yaml, or take a run that is not healthy.")
def check(
    paths: tuple[str, ...],
    config: str | None,
    typed: tuple[str, ...],
    steps: int | None,
    keys: tuple[str, ...],
    fail_on: str | None,
    rules: tuple[str, ...],
    profile: str | None,
    names: tuple[str, ...],
    outs: tuple[str, ...],
    jobs: int | None,
    no_cache: bool,
    good: str | None,
    force: bool,
) -> int:
    """Hold runs to what klinic.yaml and the options ask; without both, to having no finding or incident at error.

    \b
    klinic check --init GOOD_RUN
    klinic check RUN -r 'critic/score/mean[-10:].mean() >= 0.6'
    klinic check RUN -f text -f junit -o - -o report.xml

    PATH is what `klinic diagnose` takes. STAT is mean, min, max, median or last; names of other frameworks are
    understood. Exit status: 0 passed; 1 failed; 2 something could not be read or judged; of several runs the worst.
    """
    names = names or ("text",)
    check_formats(names, outs, SHEETS)
    refuse_overwrite(outs, (*paths, config or "klinic.yaml", profile or ""))
    if good is not None:
        if paths:
            raise click.UsageError("--init RUN writes klinic.yaml and checks nothing; leave the other paths out")
        from klinic.diagnostics.settings import SCHEMA_NAME

        file = Path(config or "klinic.yaml")
        refuse_overwrite(map(str, (file, file.parent / SCHEMA_NAME)), (good,), option="--config")
        return _init(good, file, force)
    if not paths:
        raise click.UsageError("missing argument PATH: a log, a run directory, or - for stdin")
    stdin_once(paths)
    settings = _settings(config, [_asked(text) for text in typed], steps, keys, fail_on, rules, profile)
    looked = _look(paths, settings, langs_of(names), jobs, not no_cache)
    made = write_sheets(lambda: [sheet for one in looked for sheet in _sheets(one, settings)], names, outs)
    for sheet in made:
        for item in sheet.of("unsure"):
            own = item.message.startswith(sheet.subject)
            say(item.message if own else f"{sheet.subject}: {item.name}: {item.message}")
    return max(sheet.code for sheet in made)


def _asked(text: str) -> Requirement:
    from klinic.diagnostics.gate.requirement import from_text
    from klinic.diagnostics.signals.parse import ExpressionError

    try:
        return from_text(text)
    except ExpressionError as error:
        say(f"--require:1:{error.column}: {error}")
        click.echo(f"  {' '.join(text.split(chr(10)))}\n  {' ' * (error.column - 1)}^", err=True)
        raise SystemExit(2) from None


def _settings(
    config: str | None,
    asked: list[Requirement],
    steps: int | None,
    keys: tuple[str, ...],
    fail_on: str | None,
    rules: tuple[str, ...],
    profile: str | None,
) -> Settings:
    """What the file asks, with the options over it."""
    from klinic.diagnostics.engine.card import CardError
    from klinic.diagnostics.engine.diagnose import chosen_cards
    from klinic.diagnostics.gate.settings import Settings, find, load
    from klinic.diagnostics.settings import SettingsError

    file = Path(config) if config else find(Path())
    try:
        found = load(file) if file else Settings()
        found = found.with_options(asked, keys, rules, minimum_steps=steps, fail_on=fail_on, profile=profile)
        chosen_cards(None, found.profile, [*found.rules, *(one.rule for one in found.accepted)])
    except SettingsError as error:
        for line in str(error).splitlines():
            say(line)
        raise SystemExit(2) from None
    except CardError as error:
        fail(f"{file}: {error}" if file else str(error))
    return found


def _look(
    paths: tuple[str, ...], settings: Settings, langs: tuple[Lang, ...], jobs: int | None, remember: bool
) -> list[AtPath]:
    """What there is at each path, judged; in English, but for what is asked of the rows."""
    from klinic.diagnostics.gate.demands import demands, settled
    from klinic.diagnostics.survey.options import JudgeOptions
    from klinic.diagnostics.survey.survey import survey

    heed_ctrl_c()
    asked = demands(settings, langs)
    how = JudgeOptions(profile=settings.profile, asked=asked)
    with use_language("en"), progress() as seen:
        return survey(paths, how, jobs=jobs, remember=remember and settled(asked), seen=seen)


def _sheets(one: AtPath, settings: Settings) -> list[Sheet]:
    """A sheet for each run of a path, and one that says why where a run cannot be read."""
    from klinic.diagnostics.gate.check import sheet, unread

    today = datetime.now(UTC).date()
    made = [sheet(case, settings, today, () if at else one.notes) for at, case in enumerate(one.cases)]
    return [*made, *(unread(one.path, line) for line in one.said)]


def runs_of(path: str) -> list[Run] | str:
    """The runs of a path, or why there are none."""
    from klinic.diagnostics.readers import ReadError, open_runs
    from klinic.diagnostics.readers.reading import os_error

    heed_ctrl_c()
    try:
        return open_runs(path)
    except ReadError as error:
        return str(error)
    except OSError as error:
        return os_error(error, path)


def _init(path: str, file: Path, force: bool) -> int:
    from klinic.diagnostics.gate.init import Refused, begin

    runs = runs_of(path)
    if isinstance(runs, str):
        fail(runs)
    try:
        for line in begin(path, runs, file, force):
            click.echo(line)
    except Refused as error:
        fail(str(error))
    return 0
