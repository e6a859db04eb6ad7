"""Options by which a person says how runs are judged; every command that judges takes the same ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

LEVELS = ("never", "info", "warn", "error")
Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--profile",
        default="default",
        show_default=True,
        metavar="NAME",
        help="default, strict, seed, or a profile of your own.",
    ),
    click.option(
        "--rules",
        "folders",
        multiple=True,
        metavar="DIR",
        help="Cards of your own, beside the built-in ones; may repeat.",
    ),
    click.option(
        "--config", metavar="FILE", help="The run's config where the log lacks it: YAML, overrides or a launch command."
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="RULE.threshold=VALUE",
        help="Change a card's threshold; may repeat.",
    ),
    click.option("--select", multiple=True, metavar="RULE", help="Judge these rules only: id, name, family, pattern."),
    click.option("--ignore", multiple=True, metavar="RULE", help="Leave these rules out."),
)


def judging_options(command: Command) -> Command:
    """--profile, --rules (as `folders`), --config, --set (as `settings`), --select, --ignore."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def stdin_once(paths: Sequence[str]) -> None:
    """UsageError where stdin is named twice."""
    if list(paths).count("-") > 1:
        raise click.UsageError("- is stdin, which can be read once only; name it once")


JOBS = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Processes for many runs, at most one a core [one a core, where that pays].",
)
NO_CACHE = click.option("--no-cache", is_flag=True, help="Judge anew what was judged before, and remember nothing.")


def many_options(command: Command) -> Command:
    """--jobs, --no-cache."""
    return JOBS(NO_CACHE(command))


FAIL_ON = click.option(
    "--fail-on",
    type=click.Choice(LEVELS),
    default="never",
    show_default=True,
    help="Exit 1 where a finding of this severity or above is left at the end.",
)
