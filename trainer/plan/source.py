"""The launch that is to be moved to another card: settings of a run, a script or a config, and a run's own lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from klinic.diagnostics.estimate import Lengths
from klinic.diagnostics.preflight import read_source
from klinic.diagnostics.preflight.launched import beyond
from klinic.diagnostics.preflight.sources import COMMAND_LINE
from klinic.diagnostics.readers import open_runs
from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig import Settings

MODEL, CRITIC = "actor_rollout_ref.model.path", "critic.model.path"
CAPS = ("data.max_prompt_length", "data.max_response_length")


def launched(arguments: Sequence[str]) -> tuple[Settings, Lengths | None]:
    """Settings that the arguments give (a run's are those it ran with), and a run's lengths. Raises ReadError."""
    source = read_source(arguments)
    written = {one.key: one.override.value for one in source.written if not one.open}
    typed = {one.key for one in source.written if one.place.file == COMMAND_LINE}
    if source.kind != "run":
        return Settings(_follow(written, written, typed)), None
    run = next(run for run in open_runs(source.path) if run.config)
    ran = beyond(run, written) | written
    return Settings(_follow(ran, run.config.values, typed)), None if typed.intersection(CAPS) else lengths(run)


def _follow(values: Mapping[str, Any], before: Mapping[str, Any], typed: set[str]) -> dict[str, Any]:
    """The values, with the critic on another model too where it was on the actor's."""
    same = MODEL in typed and CRITIC not in typed and before.get(CRITIC) == before.get(MODEL)
    return dict(values) | ({CRITIC: values[MODEL]} if same else {})


def lengths(run: Run) -> Lengths | None:
    """The longest and the mean sequence of a recorded run, in tokens; None where it does not say."""
    if not run.has("response_length/max") or not run.has("prompt_length/max"):
        return None

    def most(name: str) -> float:
        return float(str(run.frame[name].max() or 0)) if run.has(name) else 0.0

    longest = most("prompt_length/max") + most("response_length/max")
    return Lengths(int(longest), most("prompt_length/mean") + most("response_length/mean") or longest)
