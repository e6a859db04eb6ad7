"""Alerts: try them out, and show which channels there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from klinic.diagnostics.cli.group import fail

if TYPE_CHECKING:
    from klinic.diagnostics.alerts.channel import Alerts
    from klinic.diagnostics.alerts.courier import Receipt

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
ALERTS = click.option(
    "--alerts",
    type=FILE,
    envvar="KLINIC_ALERTS",
    metavar="FILE",
    help="Tell people what is found: klinic.yaml with an alerts section, or alerts.yaml.",
)
WAIT = 60.0  # seconds for all channels of a test


def alerts_of(file: Path | None) -> Alerts | None:
    """The settings of a file, or leave with what is wrong with it; None where there is no file."""
    if file is None:
        return None
    from klinic.diagnostics.alerts.config import load
    from klinic.diagnostics.settings import SettingsError

    try:
        return load(file)
    except SettingsError as error:
        fail(str(error))


@click.group()
def alerts() -> None:
    """Messages to Slack, Discord, Feishu, Lark, DingTalk, WeCom, by e-mail, to what takes JSON, to commands."""


@alerts.command()
@click.argument("file", type=FILE, required=False)
@click.option("--channel", "only", multiple=True, metavar="NAME", help="This channel only; may repeat.")
def test(file: Path | None, only: tuple[str, ...]) -> int:
    """Send a test message to every channel of FILE. Where none is given: klinic.yaml or alerts.yaml of this folder.

    \b
    alerts:
      channels:
        - {kind: slack, url: "${SLACK_WEBHOOK}"}     # secrets stand in variables; klinic alerts kinds lists the kinds

    Exit status: 0 all were delivered, 1 one was not, 2 the file cannot be used.
    """
    from dataclasses import replace

    from klinic.diagnostics.alerts.alerter import Alerter
    from klinic.diagnostics.alerts.courier import Patience
    from klinic.diagnostics.alerts.message import trial

    settings = alerts_of(file or _here())
    assert settings is not None  # noqa: S101 (a file was given or found)
    names = [one.name for one in settings.channels]
    if unknown := [name for name in only if name not in names]:
        fail(f"no channel {unknown[0]!r}; there are {', '.join(names)}")
    chosen = tuple(one for one in settings.channels if not only or one.name in only)
    receipts: list[Receipt] = []
    alerter = Alerter(replace(settings, channels=chosen), receipts.append, Patience(tries=3))
    alerter.send(trial())
    alerter.close(WAIT)
    return _shown([one.name for one in chosen], receipts)


def _here() -> Path:
    from klinic.diagnostics.alerts.config import NAMES, find

    found = find(Path())
    if found is None:
        fail(
            f"no {' with an alerts section, no '.join(NAMES)} in this folder; name the file (what it holds: "
            "klinic alerts test --help)"
        )
    return found


def _shown(names: list[str], receipts: list[Receipt]) -> int:
    done = {one.channel: one for one in receipts}
    width = max(map(len, names))
    for name in names:
        one = done.get(name)
        said = f"no answer within {WAIT:.0f} s" if one is None else one.trouble or "delivered"
        tries = f" (attempt {one.attempts})" if one is not None and one.attempts > 1 else ""
        click.echo(f"{name:<{width}}  {said}{tries}")
    return int(any(name not in done or done[name].trouble for name in names))


@alerts.command()
def kinds() -> None:
    """List the kinds of channels."""
    from klinic.diagnostics.alerts.senders import senders

    for name, sender in sorted(senders().items()):
        click.echo(f"{name:<9} {sender.SUMMARY}")
