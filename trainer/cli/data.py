"""Make and check data files in verl's schema."""

from __future__ import annotations

from pathlib import Path

import click

from klinic.diagnostics.cli.group import fail
from klinic.diagnostics.cli.overwrite import refuse_overwrite


@click.group()
def data() -> None:
    """Make and check data files in verl's schema."""


@data.command()
@click.option("--from", "source", required=True, type=click.Path(path_type=Path), help="GSM8K's file or folder.")
@click.option("--out", default=Path("data/gsm8k"), type=click.Path(path_type=Path), show_default=True)
def gsm8k(source: Path, out: Path) -> None:
    """Convert GSM8K to verl's schema. With the step-by-step instruction, and the answer after ####."""
    from klinic.trainer.data.gsm8k import DataError, rows, splits
    from klinic.trainer.data.rows import write

    try:
        found = {out / f"{split}.parquet": (split, file) for split, file in splits(source).items()}
        refuse_overwrite(map(str, found), (str(file) for _, file in found.values()))
        for target, (split, file) in found.items():
            click.echo(f"{target}: {write(rows(file, split), target)} rows")
    except DataError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or out}: {error.strerror}")


@data.command()
@click.option("--n", "count", default=16384, type=click.IntRange(1, 500_000), show_default=True, help="Training rows.")
@click.option("--seed", default=1001, show_default=True, help="Other seeds give other problems.")
@click.option("--out", default=Path("data/arithmetic"), type=click.Path(path_type=Path), show_default=True)
def arithmetic(count: int, seed: int, out: Path) -> None:
    """Make arithmetic word problems. The 256 validation problems are the same for every seed."""
    from klinic.trainer.data.generate import write_arithmetic

    try:
        train, test = write_arithmetic(out, count, seed)
    except OSError as error:
        fail(f"{error.filename or out}: {error.strerror}")
    click.echo(f"{train}: {count} rows\n{test}: 256 rows, none of them in {train.name}")


@data.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--val", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Look for common prompts.")
@click.option("--model", help="Tokenizer for the lengths: a folder or hub id; `embedded` for klinic's own.")
@click.option(
    "--max-prompt-length",
    default=512,
    type=click.IntRange(1, 10_000_000),
    show_default=True,
    help="data.max_prompt_length of the run.",
)
def check(file: Path, val: Path | None, model: str | None, max_prompt_length: int) -> None:
    """Check FILE against verl's schema. Exit 1 where verl would fail or score wrongly."""
    from klinic.trainer.data.check import Limits
    from klinic.trainer.data.check import check as look
    from klinic.trainer.data.tokenizer import NoTokenizerError, counter
    from klinic.trainer.model.embedded import embedded_model

    place = str(embedded_model()) if model == "embedded" else model
    try:
        problems = look(file, val, Limits(max_prompt_length, counter(place)) if place else None)
    except NoTokenizerError as error:
        fail(f"{model}: no tokenizer there: {error}")
    for problem in problems:
        click.echo(f"{file}: {'' if problem.fatal else 'note: '}{problem}")
    if not problems:
        click.echo(f"{file}: as verl wants it")
    raise SystemExit(any(problem.fatal for problem in problems))
