"""Train with verl: PPO or GRPO, on the CPU of a laptop or on GPUs, with a diagnosis while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from klinic.diagnostics.cli.alerts import alerts_of
from klinic.diagnostics.cli.duration import DURATION
from klinic.diagnostics.cli.group import fail
from klinic.trainer.cli.diagnosisoptions import condition, diagnosis_options, promised, with_checkpoints

if TYPE_CHECKING:
    from klinic.diagnostics.live.stopon import StopOn


@click.command()
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--recipe", metavar="NAME", help="A recipe's name or YAML file; --recipes lists them.")
@click.option("--recipes", is_flag=True, help="List the recipes and exit.")
@click.option(
    "--run-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the run exactly there; a run that is there goes on from its checkpoint.",
)
@click.option(
    "--from",
    "source",
    metavar="RUN",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Recipe and overrides of another run: its directory, or a folder with its command.txt.",
)
@click.option("--time-limit", type=DURATION, help="Stop, with a checkpoint, after 30m, 2h, ...")
@click.option("--grace", type=DURATION, default=120.0, help="How long a stop may take; 120s unless said otherwise.")
@click.option("--startup-limit", type=DURATION, help="Give up without a first step after this; 10m, on GPUs 40m.")
@click.option("--dry-run", is_flag=True, help="Print the full verl command and start nothing.")
@click.option("--no-diagnosis", is_flag=True, help="No diagnosis while it trains.")
@diagnosis_options
@click.option("--dashboard", is_flag=True, help="Show the run in the browser while it trains; says the address.")
def train(
    overrides: tuple[str, ...],
    recipe: str | None,
    recipes: bool,
    run_dir: Path | None,
    source: Path | None,
    time_limit: float | None,
    grace: float,
    startup_limit: float | None,
    dry_run: bool,
    no_diagnosis: bool,
    stop_on: StopOn | None,
    rescue: int,
    alerts: Path | None,
    write_back: bool,
    dashboard: bool,
) -> None:
    """Train with verl; verl's own KEY=VALUE overrides pass through unchanged.

    Without arguments: PPO on the embedded model and arithmetic problems, on the CPU. Through the night: --stop-on
    error:3 --rescue=2 --alerts alerts.yaml. Exit status: 0 finished, or stopped as asked; 1 failed; 2 refused; 3
    stopped by --stop-on; 130 Ctrl-C.
    """
    if recipes:
        _list()
        return
    plan, named = _planned(overrides, recipe, run_dir, source, rescue)
    told, stop_for = alerts_of(alerts), condition(stop_on, rescue)
    if promise := promised(stop_for, rescue):
        click.echo(promise, err=dry_run)
    if dry_run:
        _show(plan, dry_run)
        _refuse(plan, dry_run)
        return
    _refuse(plan, dry_run)
    _show(plan, dry_run)
    from klinic.trainer.cli.dashboard import with_dashboard
    from klinic.trainer.launch import Options, launch
    from klinic.trainer.launch.limits import Limits
    from klinic.trainer.launch.plugin import PluginCheck
    from klinic.trainer.treat.rescue import rescued

    limits = Limits.usual(plan.cpu, startup_limit)
    with PluginCheck(plan.cpu) as check:
        if problem := check.problem():
            fail(problem)
        _prepare(plan)
        options = Options(time_limit, grace, limits, not no_diagnosis, stop_for, told, check.problem, write_back)
        with with_dashboard(plan.run_dir, dashboard):
            raise SystemExit(rescued(plan, named, rescue, lambda each: launch(each, options), say=click.echo))


def _list() -> None:
    from klinic.trainer.recipes import load, names

    inside = sorted(names(), key=lambda name: ("/" in name, name))
    width = max(map(len, inside))
    for name in inside:
        click.echo(f"{name:<{width}}  {load(name).summary}")


def _planned(
    overrides: tuple[str, ...], recipe: str | None, run_dir: Path | None, source: Path | None, rescue: int
) -> tuple[Any, str | None]:
    """The plan, and the recipe by the name under which it is found again."""
    from klinic.trainer.plan import PlanError, make_plan
    from klinic.trainer.plan.launchfile import taken_from
    from klinic.trainer.recipes import RecipeError

    try:
        theirs, words = taken_from(source) if source else (None, [])
        return make_plan(
            with_checkpoints([*words, *overrides], rescue), recipe=recipe or theirs, run_dir=run_dir
        ), recipe or theirs
    except (PlanError, RecipeError, FileNotFoundError) as error:
        fail(str(error))


def _refuse(plan: Any, dry_run: bool) -> None:
    """Leave with a line for each thing that is known to fail; a plan may be for another machine."""
    from klinic.trainer.plan.checks import problems
    from klinic.trainer.plan.ready import obstacles

    *others, last = problems(plan) or ([] if dry_run else obstacles(plan)) or [""]
    for problem in others:
        click.echo(f"klinic: {problem}", err=True)
    if last:
        fail(last)


def _show(plan: Any, dry_run: bool) -> None:
    from klinic.trainer.plan.show import command, filled

    for line in filled(plan):
        click.echo(line, err=dry_run)
    if dry_run:
        click.echo(command(plan))


def _prepare(plan: Any) -> None:
    from klinic.trainer.plan.launchfile import keep

    try:
        plan.run_dir.mkdir(parents=True, exist_ok=True)
        keep(plan)
    except OSError as error:
        fail(f"{error.filename or plan.run_dir}: {error.strerror}; name a writable --run-dir")
