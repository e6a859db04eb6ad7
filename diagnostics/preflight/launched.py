"""How a recorded run was launched: its words, and what it ran with beyond them."""

from __future__ import annotations

from typing import Any

from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig import Settings, needs_plus
from klinic.diagnostics.verlconfig.overrides import Override, override
from klinic.diagnostics.verlconfig.spelling import assigned
from klinic.diagnostics.verlconfig.table import has

# A launch without it cannot be: verl's default is a folder that is on nobody's machine.
MODEL = "actor_rollout_ref.model.path"


def words(run: Run) -> list[Override]:
    """The overrides of the launch, by a person or by klinic; empty where nothing tells them from verl's defaults.

    A run directory holds the launch's own words. Beside a log they stand in its command; where that lacks the model,
    it is a part of the launch, and the config that verl printed tells the rest.
    """
    told = run.manifest.get("overrides")
    launched = [one for text in told if (one := override(str(text)))] if isinstance(told, list) else []
    if launched:
        return launched
    written = {key: value for key, value in run.config.values.items() if key in run.config.user}
    rest = beyond(run, written) if written and MODEL not in written else {}
    return [written_out(key, value) for key, value in (written | (rest if MODEL in rest else {})).items()]


def beyond(run: Run, written: dict[str, Any]) -> dict[str, Any]:
    """Settings of verl 0.9.1 that had another value in the run than these words give."""
    given = Settings(written)
    return {
        key: value
        for key, value in run.config.values.items()
        if key not in written and has(key) and given[key] != value
    }


def written_out(key: str, value: Any) -> Override:
    """A key of a config as an override: one that verl's own config lacks was appended, or it would not be there."""
    mark = "+" if needs_plus(key) else ""
    return Override(mark, key, value, assigned(f"{mark}{key}", value))
