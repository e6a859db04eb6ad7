"""Options of a launch that hang on its diagnosis: when to stop, whom to tell, how often to rescue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from klinic.diagnostics.cli.alerts import ALERTS
from klinic.diagnostics.cli.parsed import Parsed

if TYPE_CHECKING:
    from klinic.diagnostics.live.stopon import StopOn

RESCUE_ON = "error:3"
KEPT = 5  # checkpoints: the last one before the trouble has to be there still when it is noticed


def _stop_on(text: str) -> StopOn:
    from klinic.diagnostics.live.stopon import StopOn

    return StopOn.parse(text)


def _times(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 99:
        raise ValueError(f"{text!r} is no number of rescues; write --rescue=2, or put a bare --rescue last")
    return int(text)


def diagnosis_options(command: Any) -> Any:
    """Add the options to a command."""
    options = (
        click.option(
            "--stop-on",
            type=Parsed("severity[:steps]", _stop_on),
            envvar="KLINIC_STOP_ON",
            metavar="SEVERITY[:STEPS]",
            help="Stop, with a checkpoint and exit code 3, once a finding of this severity was open for so many steps, "
            "as in error:3.",
        ),
        click.option(
            "--rescue",
            type=Parsed("n", _times),
            is_flag=False,
            flag_value=1,
            default=0,
            metavar="[=N]",
            help="After such a stop go back to the last checkpoint before the trouble, apply the prescription and go "
            f"on, at most N times (1); implies --stop-on {RESCUE_ON}.",
        ),
        ALERTS,
        click.option(
            "--write-back/--no-write-back",
            envvar="KLINIC_WRITE_BACK",
            default=True,
            help="Show health and findings in TensorBoard, W&B and Trackio, where trainer.logger names them; so unless "
            "said otherwise.",
        ),
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


def promised(stop_on: StopOn | None, rescue: int) -> str:
    """What the options mean for this launch, in a line; empty where they ask for nothing."""
    if stop_on is None:
        return ""
    steps = "as soon as a finding is" if stop_on.steps == 1 else f"once a finding was for {stop_on.steps} steps"
    times = "once" if rescue == 1 else f"{rescue} times at most"
    back = f"; goes on from before the trouble, {times}" if rescue else ""
    return f"stops, with a checkpoint, {steps} at {stop_on.severity}{back}"


def with_checkpoints(words: Sequence[str], rescue: int) -> list[str]:
    """The overrides, and in front of them how many checkpoints a rescue wants to be kept, where they do not say it."""
    from klinic.diagnostics.verlconfig.overrides import override

    written = {one.key for text in words if (one := override(text))}
    keys = ("trainer.max_actor_ckpt_to_keep", "trainer.max_critic_ckpt_to_keep") if rescue else ()
    return [*(f"{key}={KEPT}" for key in keys if key not in written), *words]
