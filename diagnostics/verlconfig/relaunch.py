"""The command that started a run, put together anew from what its log or its run directory tells."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from klinic.diagnostics.run import Config, Run
from klinic.diagnostics.verlconfig.dialects import dialect
from klinic.diagnostics.verlconfig.interpolate import resolve
from klinic.diagnostics.verlconfig.overrides import override
from klinic.diagnostics.verlconfig.releases import default_at, existed, keys_of, vintage
from klinic.diagnostics.verlconfig.settings import engine_of
from klinic.diagnostics.verlconfig.spelling import assigned
from klinic.diagnostics.verlconfig.table import has, raw_default, version
from klinic.diagnostics.verlconfig.values import parsed

MAIN = ("python3", "-m", "verl.trainer.main_ppo")
_SECTION = re.compile(r"\$\{(?:oc\.select:)?([\w.]+)(?:,.*)?\}")
SECTIONS = {"actor_rollout_ref", "algorithm", "data", "trainer"}  # what no whole config lacks


def recorded(run: Run) -> list[str]:
    """The words of the launch as the run's manifest has them, where its overrides are among them."""
    command = run.manifest.get("command")
    words = [str(word) for word in command] if isinstance(command, list) else []
    return words if any(override(word) for word in words) else []


def relaunch(run: Run) -> list[str]:
    """The words of a command that starts a run as this one was started; empty where that cannot be told.

    As recorded; else what sets the log's whole config apart from its release's defaults; else what a person is known
    to have written, where that names the model and the data.
    """
    values, user = run.config.values, run.config.user
    if words := recorded(run):
        return words
    if dialect(run.source.framework, values) != "verl":
        return []
    release = whole_release(values)
    if release:
        return [*MAIN, *_engine(values), *_apart(values, user, release)]
    complete = {"actor_rollout_ref.model.path", "data.train_files"} <= user
    return [*MAIN, *(assigned(key, values.get(key)) for key in sorted(user))] if complete else []


def whole_release(values: Mapping[str, Any]) -> str:
    """The verl release whose whole config this is; empty for a part of one, or a list of overrides."""
    return (vintage(values) or "") if {key.partition(".")[0] for key in values} >= SECTIONS else ""


def _engine(values: Mapping[str, Any]) -> list[str]:
    engine = engine_of(values)
    return [] if engine == "dp" else [f"model_engine={engine}"]


def _apart(values: Mapping[str, Any], user: Iterable[str], release: str) -> Iterator[str]:
    """Overrides that make a release's defaults into these values. A key that it lacked is added whether or not the
    verl at hand has it."""
    for key, value in values.items():
        if key.endswith("._target_") or key.partition(".")[0] not in _sections(release):
            continue  # `wandb-metadata.json` and the like are no settings
        if not _default(key, release, values)[0]:
            yield f"++{assigned(key, value)}"
        elif key in user or _departs(key, release, values):
            yield assigned(key, value)


def is_set(config: Config, key: str) -> bool:
    """Whether a person set a key: it is known to be written, or a whole config departs there from its release's
    default (such a config, as W&B keeps it, does not say which of its values were written)."""
    if key in config.user or key not in config.values:
        return key in config.user
    release: str = config.worked_out.setdefault("whole release", whole_release(config.values))
    return bool(release) and _departs(key, release, config.values)


def _departs(key: str, release: str, values: Mapping[str, Any]) -> bool:
    known, default = _default(key, release, values)
    return not known or parsed(resolve(default, key, values)) != parsed(values[key])


@cache
def _sections(release: str) -> frozenset[str]:
    """The top level sections of a release's config."""
    return frozenset(key.partition(".")[0] for key in keys_of(release))


def _default(key: str, release: str, values: Mapping[str, Any]) -> tuple[bool, Any]:
    """Whether a release had a key, and its default as written there; of a key in a section that refers to another
    one (`rollout.mtp: ${actor_rollout_ref.model.mtp}`) its place in that."""
    known, default = _written(key, release, values)
    parent, _, rest = key.rpartition(".")
    while not known and parent:
        section = _SECTION.fullmatch(str(_written(parent, release, values)[1]))
        if section:
            return True, f"${{{section[1]}.{rest}}}"
        parent, _, name = parent.rpartition(".")
        rest = f"{name}.{rest}"
    return known, default


def _written(key: str, release: str, values: Mapping[str, Any]) -> tuple[bool, Any]:
    if release == version() and has(key):
        return True, raw_default(key, engine_of(values))
    return bool(existed(key, release)), default_at(key, release)


def in_lines(words: Iterable[str]) -> str:
    """A command for a shell, an override a line."""
    quoted = [shlex.quote(word) for word in words]
    first = next((place for place, word in enumerate(quoted) if "=" in word), len(quoted))
    return " \\\n  ".join([" ".join(quoted[:first]), *quoted[first:]])
