"""What cards say of recordings, row by row: `python benchmarks/calibrate.py PATH... [--rule NAME] [--values EXPR]`.

For each run and each card that fires: stretches of steps with their severity, as a live judge would have said it.
`--healthy` exits 1 if any card rises above info on any row; `--values` prints an expression's values instead.
Used to choose thresholds: look at the numbers, then change the card, then run this over all recordings again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import click

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.judge import Judgement, judge
from klinic.diagnostics.engine.library import load_card
from klinic.diagnostics.readers import ReadError, open_runs
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import compile_text, evaluate
from klinic.diagnostics.verlconfig.facts import facts

RULES = Path(__file__).parents[1] / "rules"
WORDS = ("none", "info", "warn", "error")


def metric_cards(rule: str = "") -> list[Card]:
    """All metric cards of the repository, or the one named."""
    files = sorted(path for path in RULES.glob("*/*.yaml") if not path.stem.endswith(".cases"))
    families = [path for path in files if path.parent.name not in ("profiles", "vitals")]
    cards = [load_card(path) for path in families]
    return [card for card in cards if card.kind == "metric" and rule in ("", card.id, card.name)]


def stretches(severities: list[int], steps: list[int]) -> Iterator[str]:
    """`warn 12-40` for each stretch of rows with one severity, quiet ones left out."""
    at = 0
    for severity, group in groupby(severities):
        length = len(list(group))
        if severity:
            yield f"{WORDS[severity]} {steps[at]}-{steps[at + length - 1]}"
        at += length


def told(judgement: Judgement, run: Run) -> Iterator[tuple[int, str]]:
    """(worst severity, line of text) for each card that fires."""
    steps = run.frame["step"].to_list()
    for judged in judgement.cards:
        severities = judged.severity.to_list()
        if judged.state == "fires":
            shown = list(stretches(severities, steps))
            tail = f", ... {len(shown) - 8} more" if len(shown) > 8 else ""
            yield max(severities), f"  {judged.card.name:24s} {', '.join(shown[:8])}{tail}"


def show_values(run: Run, text: str) -> None:
    """An expression's value at each row."""
    values = evaluate(compile_text(text), run, facts(run)).to_list()
    for step, value in zip(run.frame["step"].to_list(), values, strict=True):
        shown = value if value is None or isinstance(value, bool) else f"{value:.5g}"
        click.echo(f"  {step:6d} {shown}")


def report(run: Run, cards: list[Card]) -> int:
    """Print what the cards say; the worst severity of all rows."""
    known = facts(run)
    lines = sorted(told(judge(run, cards, known), run), reverse=True)
    click.echo(f"{run.source.path} [{run.source.format} {run.source.framework}] {run.frame.height} rows, U {known.U}")
    for _, line in lines:
        click.echo(line)
    return max((severity for severity, _ in lines), default=0)


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--rule", default="", help="Judge by this card only.")
@click.option("--values", default="", help="Print this expression's values.")
@click.option("--healthy", is_flag=True, help="Exit 1 if anything rises above info.")
def main(paths: tuple[str, ...], rule: str, values: str, healthy: bool) -> None:
    """Calibrate cards on recordings."""
    cards, worst = metric_cards(rule), 0
    for path in paths:
        try:
            runs = open_runs(path)
        except ReadError as error:
            click.echo(f"{path}: {error}")
            continue
        for run in runs:
            worst = max(worst, report(run, cards))
            if values:
                show_values(run, values)
    sys.exit(1 if healthy and worst > 1 else 0)


if __name__ == "__main__":
    main()
