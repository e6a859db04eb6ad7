"""Check a launch before it starts: a script, a config, a run, or overrides."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from klinic.diagnostics.cli.group import say
from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.cli.output import check_formats
from klinic.diagnostics.cli.overwrite import refuse_overwrite

if TYPE_CHECKING:
    from klinic.diagnostics.preflight import Report
    from klinic.diagnostics.preflight.model import Source

FORMATS = "text, json, markdown, junit, sarif, github, gitlab"
WARN = 2


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", metavar="[SCRIPT.sh|CONFIG.yaml|RUN|KEY=VALUE]...", nargs=-1, required=True)
@click.option("--format", "-f", "form", metavar="FORMAT", default="text", show_default=True, help=FORMATS)
@click.option("--fix", is_flag=True, help="Print the corrected launch; what is left to do goes to stderr.")
@click.option("--out", "-o", metavar="FILE", help="Write the report, or with --fix the corrected launch, here.")
@click.option("--gpus", type=click.IntRange(0, 1024), metavar="N", help="GPUs of a node [counted with nvidia-smi].")
@click.option("--gpu", metavar="NAME", default="", help="Kind of GPU: p40, v100, a10, l4, a100-40, h200, ... [found].")
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    help="Look at files that the launch names here only.",
)
@click.option("--select", multiple=True, metavar="RULE", help="Only these findings: id, name or pattern.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave these findings out.")
@lang_option
def preflight(
    arguments: tuple[str, ...],
    form: str,
    fix: bool,
    out: str | None,
    gpus: int | None,
    gpu: str,
    roots: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> int:
    """Check a launch before a GPU is taken: what verl refuses, and what it takes without doing it.

    Give a launch script, a Hydra config, a run or log whose config to check, or overrides; overrides beside a file come
    after its own, as its "$@". Exit status: 0 nothing at warn or above, 1 something, 2 the input cannot be read.
    """
    from klinic.diagnostics.preflight import corrected, read_source
    from klinic.diagnostics.preflight import preflight as check
    from klinic.diagnostics.readers import ReadError
    from klinic.diagnostics.report.base import SHEETS

    check_formats([form], [out] if out is not None else [], SHEETS)
    refuse_overwrite([out] if out else [], arguments)
    _known_gpu(gpu)
    _known_rules(*select, *ignore)
    try:
        source = replace(read_source(arguments), roots=tuple(map(Path, roots)) or None)
    except ReadError as error:
        raise click.ClickException(str(error)) from None
    here = _gpus()
    count = (len(here) or None) if gpus is None else gpus
    gpu = gpu or (here[0] if here else "")

    def judge(some: Source) -> Report:
        return check(some, environment=os.environ, gpus=count, gpu=gpu, select=select, ignore=ignore)

    if fix:
        text, report = corrected(source, judge)
        _write(text, out)
        _say_rest(report)
    else:
        report = judge(source)
        _write(_rendered(report, form, out), out)
    return int(report.worst >= WARN)


def _known_rules(*words: str) -> None:
    from klinic.diagnostics.preflight import is_named, names
    from klinic.diagnostics.suggest import nearest

    for word in words:
        if not any(is_named(name, word) for name in names()):
            raise click.UsageError(f"no rule or check {word!r}{nearest(word.lower(), names())}")


def _known_gpu(gpu: str) -> None:
    from klinic.diagnostics.preflight.environment import capabilities
    from klinic.diagnostics.suggest import nearest

    if gpu and gpu.lower() not in capabilities():
        known = list(capabilities())
        hint = nearest(gpu.lower(), known)
        raise click.UsageError(f"--gpu {gpu}: not in the table{hint}; there are {', '.join(known)}")


def _gpus() -> list[str]:
    """Names of this machine's GPUs; empty where it has none, or no driver that says so."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S607
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = [line for line in done.stdout.splitlines() if line.startswith("GPU ")]
    return [line.partition(": ")[2].partition(" (UUID")[0] for line in lines]


def _rendered(report: Report, form: str, out: str | None) -> str:
    from klinic.diagnostics.preflight.formats import load

    color: Callable[[], bool] = sys.stdout.isatty
    return load(form)(report, color=not out and "NO_COLOR" not in os.environ and color())


def _say_rest(report: Report) -> None:
    """What the corrected launch still has, for a person to decide."""
    from klinic.diagnostics.preflight.formats.text import line_of
    from klinic.diagnostics.report.layout import Page

    page = Page(color=False, width=100)
    for one in report.found:
        say(line_of(one, page))


def _write(text: str, out: str | None) -> None:
    if not out or out == "-":
        click.echo(text, nl=False)
        return
    from klinic.diagnostics.files.outfile import write_file

    try:
        write_file(Path(out), text.encode(errors="replace"))
    except OSError as error:
        raise click.ClickException(f"--out {out}: {(error.strerror or str(error)).lower()}") from None
