"""Say which config changes cure a run, give its new launch command, and run it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from klinic.diagnostics.cli.group import fail, say
from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.cli.overwrite import refuse_overwrite
from klinic.diagnostics.language import tr, use_language

if TYPE_CHECKING:
    from klinic.diagnostics.run import Run
    from klinic.trainer.treat import Treatment


@click.command()
@click.argument("run", type=click.Path(exists=True, path_type=Path))
@click.argument("more", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the launch command as a script.")
@click.option("--alternatives", is_flag=True, help="Show what else could be tried, in order.")
@click.option("--train", "launching", is_flag=True, help="Launch the treated run.")
@click.option("--dry-run", is_flag=True, help="With --train: print the full verl command and start nothing.")
@click.option("--run-dir", type=click.Path(path_type=Path), help="Where it is written; else <RUN>-treated.")
@click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The run's config.")
@click.option("--profile", default="default", show_default=True, metavar="NAME")
@lang_option
def treat(
    run: Path,
    more: tuple[str, ...],
    form: str,
    out: Path | None,
    alternatives: bool,
    launching: bool,
    dry_run: bool,
    run_dir: Path | None,
    config: Path | None,
    profile: str,
) -> int:
    """Say which config changes cure RUN and give its launch command with them.

    RUN is a run directory, a folder with a log and its command.txt, or a log. KEY=VALUE go behind the treatment. Exit
    status: 0, also where there is nothing to treat; 2 where RUN cannot be judged; with --train the launch's own.
    """
    if dry_run and not launching:
        raise click.UsageError("--dry-run belongs to --train: without it nothing is started anyway")
    _known(more)
    if out is not None:
        refuse_overwrite([str(out)], map(str, (run, run / "launch.json", *([config] if config else []), profile)))
    found = _treatment(run, config, profile, more)
    _show(found, form, alternatives)
    if out is not None:
        _write(found, out)
    return _launch(found, more, run_dir, dry_run) if launching and found.changes else 0


def _known(words: tuple[str, ...]) -> None:
    from klinic.diagnostics.verlconfig.overrides import override

    for word in words:
        if override(word) is None:
            raise click.UsageError(f"{word!r} is no override; write KEY=VALUE (or +KEY=VALUE, ~KEY)")


def _treatment(path: Path, config: Path | None, profile: str, more: tuple[str, ...]) -> Treatment:
    from klinic.diagnostics.readers import ReadError
    from klinic.trainer.treat.treatment import read_run, treat

    try:
        with use_language("en"):  # programs read it too
            return treat(path, _configured(read_run(path), config), more, profile=profile)
    except (ReadError, ValueError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or path}: {error.strerror}")


def _configured(run: Run, config: Path | None) -> Run:
    from klinic.diagnostics.readers.configfile import read_config, with_config

    return with_config(run, read_config(config), str(config)) if config else run


def _show(found: Treatment, form: str, alternatives: bool) -> None:
    from klinic.diagnostics.report.jsontext import written
    from klinic.trainer.treat.show import text
    from klinic.trainer.treat.translated import translated_treatment
    from klinic.trainer.treat.treatment import as_json

    if form == "json":
        click.echo(written(as_json(found, alternatives)), nl=False)
    else:
        click.echo(text(translated_treatment(found), alternatives), nl=False)


def _write(found: Treatment, out: Path) -> None:
    from klinic.diagnostics.files.outfile import write_file
    from klinic.trainer.treat.show import nothing, script
    from klinic.trainer.treat.translated import translated_treatment

    treatment = translated_treatment(found)
    if not found.command:
        fail(f"{out} is not written: {'the launch command is unknown' if found.changes else nothing(treatment)}")
    try:
        write_file(out, script(treatment).encode(errors="replace"), 0o755)
        say(f"wrote {out}")
    except OSError as error:
        fail(f"{out}: {error.strerror}")


def _launch(found: Treatment, more: tuple[str, ...], run_dir: Path | None, dry_run: bool) -> int:
    from klinic.trainer.plan import PlanError
    from klinic.trainer.plan.show import command
    from klinic.trainer.recipes import RecipeError
    from klinic.trainer.treat.apply import next_to, refused, train, treated_plan

    place = (run_dir or next_to(Path(found.path))).absolute()
    try:
        plan = treated_plan(found.origin, found.overrides, more, place)
        if dry_run:
            refused(plan)
            click.echo(tr("\nLaunch with --train:\n{}", command(plan)))
            return 0
        return train(plan, found.path, found.overrides)
    except (PlanError, RecipeError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or place}: {error.strerror}; name a writable --run-dir")
