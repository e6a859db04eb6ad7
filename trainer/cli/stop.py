"""Stop a run at the end of its step, with a checkpoint."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--reason", default="", help="Kept in the run's events.")
def stop(run: Path, reason: str) -> None:
    """Ask RUN to stop at the end of its step, with a checkpoint; exit 2 where it does not run."""
    from klinic.trainer.cli.running import must_run
    from klinic.trainer.stream import request_stop

    must_run(run)
    request_stop(run, by="klinic stop", reason=reason)
    click.echo(f"{run}: asked to stop at the end of its step")
