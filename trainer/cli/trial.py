"""Try the cures: treat recorded faults by what their recordings alone say, and measure how the treated runs end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from klinic.diagnostics.cli.group import fail

if TYPE_CHECKING:
    from klinic.trainer.recipes import Recipe
    from klinic.trainer.treat.trialtable import Row

Pair = tuple["Recipe", int]


@click.command()
@click.option("--recipes", default="", metavar="A,B", help="Fault recipes; all that a config change can cure.")
@click.option("--seeds", default="1,2", show_default=True, metavar="1,2")
@click.option(
    "--samples",
    default=Path("sample_logs"),
    type=click.Path(path_type=Path),
    show_default=True,
    help="Folder of the recordings.",
)
@click.option("--out", default=Path("benchmarks/trial.jsonl"), type=click.Path(path_type=Path), show_default=True)
@click.option("--work", default=Path("runs/trial"), type=click.Path(path_type=Path), show_default=True)
@click.option("--steps", default=40, type=click.IntRange(1, 60), show_default=True)
@click.option("--jobs", default=1, type=click.IntRange(1, 64), show_default=True, help="Trials at a time.")
@click.option("--list", "listing", is_flag=True, help="Say what is done and what is to do, and exit.")
@click.option("--report", is_flag=True, help="Print the table as Markdown, and exit.")
def trial(
    recipes: str,
    seeds: str,
    samples: Path,
    out: Path,
    work: Path,
    steps: int,
    jobs: int,
    listing: bool,
    report: bool,
) -> int:
    """Treat each recorded fault, launch the treated run, and append one row to the table.

    The remedy is computed from the recording alone. Cured: the final validation score lies in the band of the healthy
    recordings and nothing above info stands in the last third. Rows that are there are skipped; Ctrl-C stops cleanly.
    """
    pairs = list(_wanted(recipes, seeds))
    if not report and not samples.is_dir():
        raise click.UsageError(f"--samples {samples}: no such folder; name the one with the recorded runs")
    rows = _rows(out)
    if report:
        click.echo(_report(rows), nl=False)
        return 0
    todo = list(_to_do(pairs, rows, listing))
    if listing or not todo:
        return 0
    if jobs > 1 and len(todo) > 1:
        return _side_by_side(todo, jobs, samples, out, work, steps)
    return _one_by_one(todo, samples, out, work, steps)


def _wanted(recipes: str, seeds: str) -> Iterator[Pair]:
    """Seed by seed, so that a trial that is stopped early has every recipe once."""
    from klinic.trainer.recipes import RecipeError, load, names

    chosen = [word.strip() for word in recipes.split(",") if word.strip()]
    try:
        loaded = [load(name) for name in chosen or (each for each in names() if each.startswith("faults/"))]
        numbers = [int(word) for word in seeds.split(",")]
    except RecipeError as error:
        fail(str(error))
    except ValueError:
        fail(f"--seeds {seeds}: numbers separated by commas")
    if not all(0 <= number < 2**31 for number in numbers):
        fail(f"--seeds {seeds}: a seed is a number from 0 to {2**31 - 1}")
    for recipe in loaded:
        if chosen and (recipe.incurable or not recipe.fault):
            fail(f"{recipe.name}: {recipe.incurable or 'no fault: there is nothing to cure'}")
    return ((recipe, seed) for seed in numbers for recipe in loaded if recipe.fault and not recipe.incurable)


def _rows(out: Path) -> list[Row]:
    from klinic.trainer.treat.trialtable import TableError, read

    try:
        return read(out)
    except (TableError, OSError) as error:
        fail(str(error))


def _report(rows: list[Row]) -> str:
    from klinic.trainer.recipes import load, names
    from klinic.trainer.treat.report import markdown

    return markdown(rows, [recipe for recipe in map(load, names()) if recipe.incurable])


def _to_do(pairs: list[Pair], rows: list[Row], listing: bool) -> Iterator[Pair]:
    from klinic.trainer.treat.trialtable import done

    there = done(rows)
    for recipe, seed in pairs:
        made = (recipe.name, seed) in there
        if listing:
            click.echo(f"{recipe.name} seed {seed}: {'done' if made else 'to do'}")
        if not made:
            yield recipe, seed


def _one_by_one(todo: list[Pair], samples: Path, out: Path, work: Path, steps: int) -> int:
    from klinic.trainer.treat.trial import Interrupted, Trial, TrialError
    from klinic.trainer.treat.trialtable import append

    failed = 0
    for recipe, seed in todo:
        try:
            row = Trial(samples, work, steps).run(recipe, seed)
        except Interrupted as stop:
            fail("stopped; the rows so far are kept, the same command goes on", stop.args[0])
        except (TrialError, OSError, click.ClickException, ValueError) as error:
            click.echo(f"klinic: {recipe.name} seed {seed}: {error}", err=True)
            failed = 1
            continue
        append(out, row)
        click.echo(f"{recipe.name} seed {seed}: {'cured' if row['cured'] else 'not cured'}, {row['seconds']} s")
    return failed


def _side_by_side(todo: list[Pair], jobs: int, samples: Path, out: Path, work: Path, steps: int) -> int:
    from klinic.trainer.treat.parallel import run_all

    places = ["--samples", str(samples), "--out", str(out), "--work", str(work), "--steps", str(steps)]
    commands = [["trial", "--recipes", recipe.name, "--seeds", str(seed), *places] for recipe, seed in todo]
    logs = work / "logs"
    click.echo(f"{len(commands)} trials, {jobs} at a time; output in {logs}", err=True)
    return run_all(commands, jobs, logs)
