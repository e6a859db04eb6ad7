"""Make the plan of a launch: the full verl command, its environment, and why each filled value is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from klinic.diagnostics.verlconfig.overrides import Override, override
from klinic.diagnostics.verlconfig.settings import Settings
from klinic.diagnostics.verlconfig.spelling import assigned
from klinic.trainer.plan.draft import Draft, Place
from klinic.trainer.plan.files import planned_steps
from klinic.trainer.plan.fills import FILLS
from klinic.trainer.plan.fromcpu import ENGINES
from klinic.trainer.plan.machine import Machine, this_machine
from klinic.trainer.recipes import Entry, Recipe, load

DEFAULT_RECIPE = "ppo-cpu"
COUNTS = ("trainer.n_gpus_per_node", "trainer.nnodes")
MODEL_OR_DATA = ("actor_rollout_ref.model.path", "data.train_files")


class PlanError(ValueError):
    """A launch that cannot be planned; one line."""


@dataclass(frozen=True)
class Plan:
    """A launch. filled and recipe entries come first in the command, the user's words unchanged and last."""

    run_dir: Path
    cpu: bool
    filled: tuple[Entry, ...]
    recipe: Recipe | None
    kept: tuple[Entry, ...]
    user: tuple[str, ...]
    machine: Machine

    @property
    def overrides(self) -> list[str]:
        """All overrides in the order in which verl gets them."""
        return [*(assigned(entry.key, entry.value) for entry in (*self.filled, *self.kept)), *self.user]

    @property
    def total_steps(self) -> int:
        """Planned steps: as set, else from the rows of the training files; 0 where it cannot be told."""
        return planned_steps(self.settings)

    @property
    def settings(self) -> Settings:
        """verl's settings under this plan."""
        pairs = ((entry.bare, entry.value) for entry in (*self.filled, *self.kept))
        return Settings(dict(pairs) | {one.key: one.value for text in self.user if (one := override(text))})

    @property
    def card_name(self) -> str:
        """The GPUs' kind by the name one types; empty on a CPU or where the kind is not known."""
        card = None if self.cpu else self.machine.card
        return card.name if card else ""

    @property
    def command(self) -> list[str]:
        """The verl command."""
        hydra = [assigned("hydra.run.dir", str(self.run_dir / "hydra")), "hydra.output_subdir=null"]
        return [sys.executable, "-m", "verl.trainer.main_ppo", *hydra, *self.overrides]

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the launch, beside those that are there."""
        plain = {
            "KLINIC_RUN_DIR": str(self.run_dir),
            "HYDRA_FULL_ERROR": "1",
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_DEDUP_LOGS": "0",
            "TOKENIZERS_PARALLELISM": "false",
            "PYTHONUNBUFFERED": "1",
        }
        if self.cpu:
            threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, self.machine.cpus))
            plain |= {"VERL_PLATFORM": "cpu", "VERL_ENGINE_DEVICE": "cuda", "OMP_NUM_THREADS": threads}
            # Ray gives its workers niceness 15, by which anything else on a small machine starves them; threads that
            # wait for each other should not spin where there are fewer CPUs than threads.
            plain |= {"RAY_worker_niceness": "0", "OMP_WAIT_POLICY": "passive"}
            # Ray starts workers ahead that have no job's environment; verl's actors never take them.
            plain |= {"RAY_prestart_worker_first_driver": "0"}
        return plain


def make_plan(
    user: Sequence[str],
    *,
    recipe: str | None = None,
    run_dir: Path | None = None,
    machine: Machine | None = None,
) -> Plan:
    """Plan a launch on this machine (or on `machine`).

    user: Hydra overrides as typed. recipe: a name or a file; where neither it nor a model nor data are given, the
    default recipe on the embedded model. run_dir: where the run is written exactly, else runs/klinic/<name>-<time>.
    Raises PlanError, RecipeError.
    """
    given = [_read(text) for text in user]
    here = machine or this_machine()
    chosen = _recipe(recipe, given)
    cpu = _on_cpu(chosen, given, here)
    place = _place(chosen, given, run_dir)
    written = {one.key for one in given}
    kept = tuple(entry for entry in (chosen.entries if chosen else ()) if entry.bare not in written)
    draft = Draft(given, kept, here, cpu, place)
    for fill in FILLS:
        fill(draft)
    return Plan(place.run_dir, cpu, tuple(draft.filled), chosen, kept, tuple(user), here)


def _read(text: str) -> Override:
    found = override(text)
    if found is None:
        raise PlanError(f"{text!r} is no override; write KEY=VALUE (or +KEY=VALUE, ~KEY)")
    return found


def _recipe(name: str | None, given: Sequence[Override]) -> Recipe | None:
    if name is not None:
        return load(name)
    named = {one.key for one in given} & set(MODEL_OR_DATA)
    return None if named else load(DEFAULT_RECIPE)


def _on_cpu(recipe: Recipe | None, given: Sequence[Override], machine: Machine) -> bool:
    device = next((str(one.value) for one in reversed(given) if one.key == "trainer.device"), None)
    if device is not None:
        return device == "cpu"
    if recipe is not None and recipe.platform:
        return recipe.platform == "cpu"
    return not machine.gpus and not any(map(_of_gpus, given))


def _of_gpus(one: Override) -> bool:
    """Whether only a launch on GPUs says this: a plan may be for another machine."""
    several = isinstance(one.value, int) and one.value > 1
    return (one.key == "actor_rollout_ref.rollout.name" and one.value in ENGINES) or (one.key in COUNTS and several)


def _place(recipe: Recipe | None, given: Sequence[Override], run_dir: Path | None) -> Place:
    def named(key: str, default: str) -> str:
        return next((str(one.value) for one in reversed(given) if one.key == key), default)

    name = recipe.name if recipe else named("algorithm.adv_estimator", "ppo").replace("gae", "ppo")
    stamp = f"{datetime.now():%m%d-%H%M%S}"
    project = named("trainer.project_name", "klinic")
    experiment = named("trainer.experiment_name", run_dir.name if run_dir else f"{name}-{stamp}")
    return Place((run_dir or Path("runs") / project / experiment).absolute(), project, experiment)
