"""List the log formats that klinic reads."""

from __future__ import annotations

import click

from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.language import tr
from klinic.diagnostics.readers import readers as known
from klinic.diagnostics.readers.fast.extension import state
from klinic.diagnostics.report.wrapping import WIDTH, wrapped


@click.command()
@lang_option
def readers() -> None:
    """List the log formats that klinic reads.

    The format is chosen by content, never by name; gzip and zstd are seen through, `-` is stdin, and a folder
    is searched.
    """
    rows = [(reader.name, reader.summary) for reader in known()]
    width = max(len(name) for name, _ in rows)
    for name, summary in rows:
        click.echo("\n".join(wrapped(tr(summary), WIDTH, f"{name:<{width}}  ", " " * (width + 2))))
    native = tr("The compiled reader of verl-console (klinic-native): {}", state())
    click.echo("\n" + "\n".join(wrapped(native, WIDTH)))
