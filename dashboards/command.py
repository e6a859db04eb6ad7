"""Watch runs in the browser: verdict, vital signs, curves, prescription, live."""

from __future__ import annotations

import math
from pathlib import Path

import click

from klinic.diagnostics.cli.group import fail, heed_ctrl_c
from klinic.diagnostics.cli.judging import NO_CACHE

LOCAL = {"127.0.0.1", "localhost", "::1"}


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--host", default="127.0.0.1", show_default=True, help="Another address than this one needs --token.")
@click.option("--port", type=click.IntRange(0, 65535), default=8050, show_default=True, help="0 takes a free one.")
@click.option("--refresh", type=click.FloatRange(0.2, 3600), default=1.0, show_default=True, metavar="SECONDS")
@click.option(
    "--token", default="", envvar="KLINIC_TOKEN", help="Asked for at the first visit; KLINIC_TOKEN sets it too."
)
@NO_CACHE
@click.option("--one-run", is_flag=True, hidden=True, help="PATH is a run directory, maybe still empty.")
def dashboard(
    paths: tuple[str, ...], host: str, port: int, refresh: float, token: str, no_cache: bool, one_run: bool
) -> None:
    """Serve a dashboard of the runs in PATHs: logs, run directories, folders of runs; runs/ where none is given."""
    paths = paths or ("runs",)
    _check(paths, host, token)
    if math.isnan(refresh):  # which no range keeps out
        raise click.UsageError("--refresh nan: give seconds, from 0.2 to 3600")
    from klinic.dashboards.serve import serve

    heed_ctrl_c()
    serve(paths, host=host, port=port, refresh=refresh, token=token, one_run=one_run, remember=not no_cache)


def _check(paths: tuple[str, ...], host: str, token: str) -> None:
    missing = [path for path in paths if path != "runs" and not Path(path).exists()]
    if missing:
        fail(f"{missing[0]}: no such file or directory; give logs, run directories or folders of runs")
    if not token.isprintable():  # no form can send it
        fail("--token: give letters, digits and signs that can be typed")
    if host not in LOCAL and len(token) < 8:
        fail(f"--host {host} lets others in: give --token (8 signs or more), or keep to 127.0.0.1")
