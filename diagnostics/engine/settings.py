"""A run's value of a setting, and a new value as an override to paste, in the words of the run's framework."""

from __future__ import annotations

from typing import Any

from klinic.diagnostics.engine.remedy import Drop
from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig import table
from klinic.diagnostics.verlconfig.dialects import NAMES, has_own, names_in
from klinic.diagnostics.verlconfig.spelling import assigned, spelt

# Settings that are logged as metrics; the largest value is the one after warm-up and before decay.
LOGGED = {"actor_rollout_ref.actor.optim.lr": "actor/lr", "critic.optim.lr": "critic/lr"}
CAP, LONGEST, CUT = "data.max_response_length", "response_length/max", "response_length/clip_ratio"
SEEN = 3  # batches whose longest response is the same one: the cap
FLAGS = {"openrlhf": "_", "slime": "-"}  # frameworks that take `--name value`, and how they join words


def value_of(run: Run, key: str) -> Any:
    """The run's value of a key: from its config, else as its metrics show it, else verl's default for a verl run."""
    key = table.plain(key)
    for name in (key, *own_names(run, key)):
        if name in run.config.values:
            return run.config.values[name]
    shown = _shown(run, key)
    return shown if shown is not None or not is_verl(run) else table.default(key)


def is_verl(run: Run) -> bool:
    """Whether the log is verl's, or says nothing of another framework."""
    return (run.source.framework or "verl") == "verl"


def own_names(run: Run, key: str) -> tuple[str, ...]:
    """What the run's framework calls verl's key; () for verl itself, and where it has nothing of the kind."""
    return () if is_verl(run) else names_in(run.source.framework, table.plain(key))


def called(framework: str, setting: str) -> str:
    """What a framework calls a setting that is given by verl's key or by the framework's own name; "" if it has none.

    Where the framework is unknown, or a fork without a table of its own, verl's key with TRL's name beside it.
    """
    if framework in NAMES and framework != "verl":
        names = names_in(framework, setting)
        return _flag(framework, names[0] if names else setting if has_own(framework, setting) else "")
    verls = setting if table.known(setting) or table.needs_plus(setting) else ""
    if framework == "verl":
        return verls
    trls = called("trl", setting)
    return f"{verls} (TRL: {trls})" if verls and trls else verls or (trls and f"{trls} (TRL)")


def _flag(framework: str, name: str) -> str:
    """A setting's name as it is typed."""
    joint = FLAGS.get(framework)
    return f"--{name.replace('_', joint)}" if name and joint is not None else name


def _shown(run: Run, key: str) -> float | None:
    """What metrics alone say of a setting; None where they do not."""
    return _cap(run) if key == CAP else _logged(run, LOGGED.get(key, ""))


def _logged(run: Run, metric: str) -> float | None:
    """The largest value of a metric, where the log prints enough digits to tell it."""
    if not run.has(metric) or run.decimals.get(metric, 12) < 8:
        return None
    largest = run.frame[metric].max()
    return float(f"{largest:.3g}") if isinstance(largest, float) and largest > 0 else None


def _cap(run: Run) -> int | None:
    """The cap on responses: the longest one of several batches in which responses were cut."""
    longest, cut = (run.frame[name].drop_nulls().to_list() if run.has(name) else [] for name in (LONGEST, CUT))
    if not longest or not cut or max(cut) <= 0:
        return None
    peak = float(max(longest))
    return int(peak) if longest.count(peak) >= SEEN else None


def is_assumed(run: Run, key: str) -> bool:
    """Whether nothing tells the run's value of a key, so that verl's default is taken for it."""
    plain = table.plain(key)
    return not run.config and is_verl(run) and _shown(run, plain) is None and value_of(run, plain) is not None


def assumed_remark(run: Run, key: str, old: Any) -> str:
    """A remark where the old value is nothing but verl's default because no config was found."""
    if not is_assumed(run, key):
        return ""
    return f" (the log does not say what it was: verl's default, {spelt(old)}, is assumed)"


def as_override(key: str, value: Any, run: Run) -> str:
    """The text to paste: `key=value` in Hydra's syntax, `+key=value` for a key that verl's config lacks, `~key`."""
    if isinstance(value, Drop):
        return f"~{key}"
    if run.source.framework in FLAGS:
        flag = _flag(run.source.framework, key)
        return flag if value is True else f"{flag} {spelt(value)}"  # argparse's switches take no value
    plus = "+" if is_verl(run) and table.needs_plus(key) else ""
    return assigned(f"{plus}{key}", value)
