"""Options of a launch that hang on its diagnosis: when to stop, whom to tell, how often to rescue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from klinic.diagnostics.cli.alerts import ALERTS

if TYPE_CHECKING:
    from klinic.diagnostics.live.stopon import StopOn

RESCUE_ON = "error:3"
KEPT = 5  # checkpoints: the last one before the trouble has to be there still when it is noticed


class StopOnType(click.ParamType):  # type: ignore[type-arg]  # generic in some releases of click only
    """error:3."""

    name = "severity[:steps]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StopOn:
        """The condition."""
        from klinic.diagnostics.live.stopon import StopOn

        try:
            return value if isinstance(value, StopOn) else StopOn.parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Times(click.ParamType):  # type: ignore[type-arg]
    """A count that follows an `=`."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The count."""
        if isinstance(value, int):
            return value
        if not str(value).isdigit() or not 1 <= int(value) <= 99:
            self.fail(f"{value!r} is no number of rescues; write --rescue=2, or put a bare --rescue last", param, ctx)
        return int(value)


def watchful(command: Any) -> Any:
    """Add the options to a command."""
    options = (
        click.option(
            "--stop-on",
            type=StopOnType(),
            envvar="KLINIC_STOP_ON",
            metavar="SEVERITY[:STEPS]",
            help="Stop, with a checkpoint and exit code 3, once a finding of this severity was open for so many steps, "
            "as in error:3.",
        ),
        click.option(
            "--rescue",
            type=Times(),
            is_flag=False,
            flag_value=1,
            default=0,
            metavar="[=N]",
            help="After such a stop go back to the last checkpoint before the trouble, apply the prescription and go "
            f"on, at most N times (1); implies --stop-on {RESCUE_ON}.",
        ),
        ALERTS,
    )
    for option in reversed(options):
        command = option(command)
    return command


def condition(stop_on: StopOn | None, rescue: int) -> StopOn | None:
    """When to stop: as asked, or as a rescue needs it."""
    if stop_on is None and rescue:
        from klinic.diagnostics.live.stopon import StopOn

        return StopOn.parse(RESCUE_ON)
    return stop_on


def with_checkpoints(words: Sequence[str], rescue: int) -> list[str]:
    """The overrides, and in front of them how many checkpoints a rescue wants to be kept, where they do not say it."""
    from klinic.diagnostics.verlconfig.overrides import override

    written = {one.key for text in words if (one := override(text))}
    keys = ("trainer.max_actor_ckpt_to_keep", "trainer.max_critic_ckpt_to_keep") if rescue else ()
    return [*(f"{key}={KEPT}" for key in keys if key not in written), *words]
