"""Record runs for sample_logs/: recipes times seeds, existing recordings skipped, stopped and resumed at will.

`python -m klinic.trainer.record --seeds 1,2 ppo-cpu actor-lr-too-high` trains each recipe with each seed and keeps
sample_logs/<healthy|faults>/<recipe>-s<seed>/ without the paths and the name of the machine.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from klinic.trainer.launch import Options, launch
from klinic.trainer.otherloggers import OVERRIDE, environment, keep_copies
from klinic.trainer.plan import make_plan
from klinic.trainer.plan.checks import problems
from klinic.trainer.plan.launchfile import keep
from klinic.trainer.recipes import Recipe, load, names
from klinic.trainer.recording import keep_recording

MOST_STEPS = 60
HEALTHY = ("ppo-cpu", "grpo-cpu")
INTERRUPTED = (130, 143)


def folder(out: Path, recipe: Recipe, seed: int, loggers: bool = False) -> Path:
    """Where a recording is kept."""
    return out / ("loggers" if loggers else "faults" if recipe.fault else "healthy") / f"{recipe.name}-s{seed}"


def overrides(seed: int, steps: int) -> list[str]:
    """What a recording changes in its recipe: the seeds, the length, no checkpoints."""
    seeded = ("data.seed", "actor_rollout_ref.rollout.seed", "actor_rollout_ref.actor.data_loader_seed")
    return [*(f"{key}={seed}" for key in seeded), f"trainer.total_training_steps={steps}", "trainer.save_freq=-1"]


def wanted(chosen: tuple[str, ...], seeds: list[int]) -> Iterator[tuple[Recipe, int]]:
    """Seed by seed, so that a recording that is stopped early has every recipe once rather than one three times."""
    recipes = [load(name) for name in chosen or (*HEALTHY, *(n for n in names() if n.startswith("faults/")))]
    return ((recipe, seed) for seed in seeds for recipe in recipes)


def record(recipe: Recipe, seed: int, steps: int, target: Path, work: Path, loggers: Path | None = None) -> int:
    """Train once and keep the recording; gives the launch's exit code. A stopped run is not kept.

    loggers: a folder for verl's other loggers to write to; their files are kept beside the run directory's.
    """
    if work.exists():
        shutil.rmtree(work)
    words = overrides(seed, steps)
    if loggers:
        words.append(OVERRIDE)
        os.environ.update(environment(loggers))
    plan = make_plan(words, recipe=recipe.name, run_dir=work)
    if found := problems(plan):
        raise click.ClickException(found[0])
    work.mkdir(parents=True)
    keep(plan)
    code = launch(plan, Options(diagnose=False))
    if code not in INTERRUPTED and has_steps(work):
        if loggers:
            keep_copies(work, loggers, target, recipe, words)
        else:
            keep_recording(work, target, recipe, words)
        shutil.rmtree(work)
    return code


def has_steps(run: Path) -> bool:
    """Whether a step of training was written: a launch that failed before its first one is no recording."""
    metrics = run / "metrics.jsonl"
    return metrics.exists() and b"timing_s/step" in metrics.read_bytes()


@click.command()
@click.argument("recipes", nargs=-1)
@click.option("--seeds", default="1,2", show_default=True, help="Seeds, separated by commas.")
@click.option("--out", default=Path("sample_logs"), type=click.Path(path_type=Path), show_default=True)
@click.option("--work", default=Path("runs/recording"), type=click.Path(path_type=Path), show_default=True)
@click.option("--steps", default=40, type=click.IntRange(1, MOST_STEPS), show_default=True)
@click.option("--loggers", is_flag=True, help="Let verl's other loggers write too; keep all forms in loggers/.")
@click.option("--list", "listing", is_flag=True, help="Say what is recorded and what is missing, and exit.")
def main(recipes: tuple[str, ...], seeds: str, out: Path, work: Path, steps: int, loggers: bool, listing: bool) -> None:
    """Record RECIPES (all healthy and fault recipes for the CPU, unless named) with each seed."""
    for recipe, seed in wanted(recipes, [int(word) for word in seeds.split(",")]):
        target = folder(out, recipe, seed, loggers)
        there = any(target.rglob("expected.yaml"))
        click.echo(f"{target}: {'recorded' if there else 'missing'}")
        if there or listing:
            continue
        scratch = work.absolute() / target.name
        code = record(
            recipe, seed, steps, target, scratch, scratch.with_name(f"{scratch.name}-loggers") if loggers else None
        )
        if code in INTERRUPTED:
            sys.exit(code)


if __name__ == "__main__":
    main()
