"""Is this machine ready: versions, GPUs, memory, limits, variables, ports; with --deep Ray, a loader, a model."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.language import tr

if TYPE_CHECKING:
    from klinic.diagnostics.env import Line
    from klinic.diagnostics.report.layout import Page

LABELS = {"ready": ("ok", "healthy"), "note": ("note", "watch"), "missing": ("FIX", "error")}


@click.command()
@click.option("--deep", is_flag=True, help="Also start Ray, load a batch of data and generate once; takes a minute.")
@click.option("--format", "-f", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@lang_option
def env(deep: bool, form: str) -> int:
    """Check the machine before a training: what is there, what verl wants, what to do.

    Without --deep nothing but klinic is imported, nothing is started. Exit status: 0 ready, 1 something that is wanted
    is missing. Example: klinic env --deep --format json > env.json; `klinic explain NAME` says more about a line.
    """
    from klinic.diagnostics.env import ready, survey

    if deep and form == "text":
        click.echo(tr("klinic: starting Ray, a data loader and a model; this takes a minute"), err=True)
    lines = list(survey(deep=deep))
    click.echo(_json(lines) if form == "json" else _text(lines), nl=False)
    return 0 if ready(lines) else 1


def _text(lines: Iterable[Line]) -> str:
    from klinic.diagnostics.report.layout import Page

    page = Page(color=sys.stdout.isatty(), width=min(120, shutil.get_terminal_size().columns))
    lines = list(lines)
    topic = ""
    for one in lines:
        if one.topic != topic:
            topic = one.topic
            page.heading(tr(topic))
        _line(page, one)
    page.line()
    page.line(_verdict(lines))
    return page.render()


def _line(page: Page, one: Line) -> None:
    label, kind = LABELS[one.status]
    page.labelled(label, kind, tr("{}: {}; wanted: {}", one.name, one.found, one.wanted), gap=5)
    if one.fix:
        page.text(f"-> {one.fix}", 7, 10)


def _verdict(lines: list[Line]) -> str:
    missing = [one.name for one in lines if one.status == "missing"]
    notes = sum(one.status == "note" for one in lines)
    read = tr("; {} to read", notes) if notes else ""
    if not missing:
        return tr("ready to train: {} things looked at{}", len(lines), read)
    return tr("not ready: {}{}; klinic explain NAME says more", ", ".join(dict.fromkeys(missing)), read)


def _json(lines: Iterable[Line]) -> str:
    from dataclasses import asdict

    from klinic.diagnostics.env import ready
    from klinic.diagnostics.report.jsontext import written

    lines = list(lines)
    data = {"schema": 1, "ready": ready(lines), "lines": [asdict(one) for one in lines]}
    return written(data)
