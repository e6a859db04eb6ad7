"""`klinic rules`: list the rules, check cards, run their cases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from klinic.diagnostics.cli.group import fail
from klinic.diagnostics.engine.card import Card, CardError, load_card
from klinic.diagnostics.engine.cases import CaseError, CaseResult, run_cases
from klinic.diagnostics.engine.library import all_cards, card_paths
from klinic.diagnostics.engine.lint import check_card

FILES = click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))


@click.group()
def rules() -> None:
    """List the rules, check your own cards, run their cases."""


@rules.command("list")
@click.option("--rules", "extra", multiple=True, metavar="DIR", help="Also the cards of this folder or file.")
@click.option("--kind", type=click.Choice(["metric", "config", "incident"]), help="Only rules of this kind.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_(extra: tuple[str, ...], kind: str | None, form: str) -> None:
    """List all rules by family: id, name, status, levels and what each says."""
    try:
        cards = [card for card in all_cards(extra) if kind in (None, card.kind)]
    except CardError as error:
        fail(str(error))
    if form == "json":
        click.echo(json.dumps([_record(card) for card in cards], indent=2, ensure_ascii=False))
        return
    for line in _table(cards):
        click.echo(line)


def _severities(card: Card) -> list[str]:
    found = {level.severity for level in card.levels} | {match.severity for match in card.matches}
    return [str(severity) for severity in sorted(found)]


def _record(card: Card) -> dict[str, Any]:
    return {
        "id": card.id,
        "name": card.name,
        "family": card.family,
        "kind": card.kind,
        "status": card.status,
        "confidence": card.confidence,
        "levels": _severities(card),
        "needs": list(card.needs),
        "thresholds": {name: {"value": t.value, "unit": t.unit} for name, t in card.thresholds.items()},
        "summary": card.text("summary") or card.text("message"),
        "path": str(card.path),
    }


def _table(cards: Iterable[Card]) -> Iterator[str]:
    cards = sorted(cards, key=lambda card: (card.family, card.id))
    width = max((len(card.name) for card in cards), default=0)
    family = None
    for card in cards:
        if card.family != family:
            family = card.family
            yield f"\n{family}"
        mark = "" if card.status == "stable" else f" ({card.status})"
        yield f"  {card.id:<6} {card.name:<{width}}  {card.text('summary') or card.text('message')}{mark}"


@rules.command()
@FILES
def check(files: tuple[Path, ...]) -> None:
    """Check cards (files or folders): exit 1 where something is wrong, each problem with file:line:column."""
    problems = [problem for path in _expanded(files) for problem in check_card(path)]
    for problem in problems:
        click.echo(str(problem))
    count = sum(1 for _ in _expanded(files))
    if problems:
        click.echo(f"{len(problems)} problem{_s(problems)} in {count} card{_s(range(count))}", err=True)
        raise click.exceptions.Exit(1)
    click.echo(f"{count} card{_s(range(count))} checked, nothing wrong")


@rules.command()
@FILES
@click.option("-q", "--quiet", is_flag=True, help="Show failing cases only.")
def test(files: tuple[Path, ...], quiet: bool) -> None:
    """Run the cases beside cards (files or folders): exit 1 where one fails."""
    results = [result for path in _expanded(files) for result in _results(path)]
    for result in results:
        if not (quiet and result.passed):
            click.echo(str(result))
    failed = [result for result in results if not result.passed]
    click.echo(f"{len(results) - len(failed)} of {len(results)} cases passed")
    if failed or not results:
        raise click.exceptions.Exit(1)


def _results(path: Path) -> list[CaseResult]:
    try:
        card = load_card(path)
        results = run_cases(path, card)
    except (CardError, CaseError) as error:
        fail(str(error))
    if not results:
        click.echo(f"{card.cases_path}: no cases for {card.id} {card.name}", err=True)
    return results


def _expanded(files: Iterable[Path]) -> Iterator[Path]:
    for path in files:
        if not path.exists():
            fail(f"{path}: no such file or folder")
        if path.is_dir():
            yield from card_paths(path)
        else:
            yield path


def _s(several: Any) -> str:
    return "" if len(several) == 1 else "s"
