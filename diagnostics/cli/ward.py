"""Judge a folder of labelled runs and count how often klinic is right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from klinic.diagnostics.cli.group import fail
from klinic.diagnostics.cli.judging import JOBS

if TYPE_CHECKING:
    from klinic.diagnostics.gate.ward import JudgedRecording

WITH, WITHOUT = "with config", "without config"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("--no-config", is_flag=True, help="Withhold each run's config.")
@click.option("--both", is_flag=True, help="Judge with the configs and without them, side by side.")
@click.option("--no-prefixes", is_flag=True, help="Judge healthy runs at their end only.")
@click.option("--seeds", type=click.Choice(["all", "1", "others"]), default="all", show_default=True)
@JOBS
def ward(folder: Path, form: str, no_config: bool, both: bool, no_prefixes: bool, seeds: str, jobs: int | None) -> int:
    """Judge a FOLDER of labelled runs (expected.yaml beside each) and count what was right.

    Exit status: 0 everything right, 1 something missed or a false alarm, 2 a run or label could not be read. With
    --both the status is that of the round with the configs.
    """
    if both and no_config:
        raise click.UsageError("--both judges without the configs already; leave --no-config out")
    kinds = (WITH, WITHOUT) if both else (WITHOUT,) if no_config else (WITH,)
    rounds = {kind: _round(folder, kind == WITH, not no_prefixes, seeds, jobs) for kind in kinds}
    if not rounds[kinds[0]]:
        fail(f"{folder}: no labelled run (a folder with expected.yaml) below it")
    _write(rounds, folder, form)
    from klinic.diagnostics.gate.tally import misses

    return 1 if misses(rounds[kinds[0]]) else 0


def _round(folder: Path, with_config: bool, prefixes: bool, seeds: str, jobs: int | None) -> list[JudgedRecording]:
    from klinic.diagnostics.gate.label import LabelError
    from klinic.diagnostics.gate.ward import judge_ward
    from klinic.diagnostics.readers import ReadError

    try:
        recordings = judge_ward(folder, with_config=with_config, prefixes=prefixes, jobs=jobs)
    except (LabelError, ReadError) as error:
        fail(str(error))
    return [recording for recording in recordings if _wanted(recording, seeds)]


def _wanted(recording: JudgedRecording, seeds: str) -> bool:
    if seeds == "all":
        return True
    return (recording.label.seed == 1) is (seeds == "1")


def _write(rounds: dict[str, list[JudgedRecording]], folder: Path, form: str) -> None:
    from klinic.diagnostics.gate.show import as_markdown, as_text
    from klinic.diagnostics.report.jsontext import written

    if form == "json":
        click.echo(written(_plain(rounds)), nl=False)
    else:
        click.echo(as_markdown(rounds, str(folder)) if form == "markdown" else as_text(rounds), nl=False)


def _plain(rounds: dict[str, list[JudgedRecording]]) -> dict[str, Any]:
    """The first round; a second one, without the configs, under a key of its own."""
    from klinic.diagnostics.gate.tally import as_json

    kind = next(iter(rounds))
    data = as_json(rounds[kind]) | {"config": kind == WITH}
    return data | ({"without_config": as_json(rounds[WITHOUT])} if len(rounds) > 1 else {})
