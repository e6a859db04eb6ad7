"""A run's value of a setting, and a new value as an override to paste."""

from __future__ import annotations

from typing import Any

from klinic.diagnostics.engine.remedy import Drop
from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig import table
from klinic.diagnostics.verlconfig.spelling import spelt

hydra = spelt  # the name under which reports and preflight know it

# Settings that verl logs as metrics; the largest value is the one after warm-up and before decay.
LOGGED = {"actor_rollout_ref.actor.optim.lr": "actor/lr", "critic.optim.lr": "critic/lr"}


def value_of(run: Run, key: str) -> Any:
    """The run's value of a key: from its config, else as its metrics show it, else verl's default for a verl run."""
    key = table.plain(key)
    if key in run.config.values:
        return run.config.values[key]
    if not is_verl(run):
        return None
    shown = _logged(run, LOGGED.get(key, ""))
    return table.default(key) if shown is None else shown


def is_verl(run: Run) -> bool:
    """Whether the log is verl's, or says nothing of another framework."""
    return (run.source.framework or "verl") == "verl"


def _logged(run: Run, metric: str) -> float | None:
    """The largest value of a metric, where the log prints enough digits to tell it."""
    if not run.has(metric) or run.decimals.get(metric, 12) < 8:
        return None
    largest = run.frame[metric].max()
    return float(f"{largest:.6g}") if isinstance(largest, float) and largest > 0 else None


def is_assumed(run: Run, key: str) -> bool:
    """Whether nothing tells the run's value of a key, so that verl's default is taken for it."""
    shown = _logged(run, LOGGED.get(table.plain(key), ""))
    return not run.config and is_verl(run) and shown is None and value_of(run, key) is not None


def assumed_remark(run: Run, key: str, old: Any) -> str:
    """A remark where the old value is nothing but verl's default because no config was found."""
    if not is_assumed(run, key):
        return ""
    return f" (the log does not say what it was: verl's default, {hydra(old)}, is assumed)"


def as_override(key: str, value: Any, run: Run) -> str:
    """The text to paste: `key=value` in Hydra's syntax, `+key=value` for a key that verl's config lacks, `~key`."""
    if isinstance(value, Drop):
        return f"~{key}"
    plus = "+" if is_verl(run) and table.needs_plus(key) else ""
    return f"{plus}{key}={hydra(value)}"
