"""List the rules, check cards, run their cases, begin a new one, write their pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from klinic.diagnostics.cli.group import fail
from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.engine.card import Card, CardError
from klinic.diagnostics.engine.cases import CaseError, CaseResult, run_cases
from klinic.diagnostics.engine.library import BUILTIN, all_cards, card_paths, folders, load_card, load_cards
from klinic.diagnostics.engine.lint import check_card
from klinic.diagnostics.engine.scaffold import ScaffoldError, scaffold
from klinic.diagnostics.engine.wording import in_general
from klinic.diagnostics.files.outfile import write_file
from klinic.diagnostics.language import current_language, tr
from klinic.diagnostics.report.wrapping import WIDTH, wrapped

FILES = click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))


@click.group()
def rules() -> None:
    """List the rules, check your own cards, run their cases, begin a new one, write their pages.

    klinic explain RULE shows one of them.
    """


@rules.command("list")
@click.option("--rules", "extra", multiple=True, metavar="DIR", help="Also the cards of this folder or file.")
@click.option("--kind", type=click.Choice(["metric", "config", "incident"]), help="Only rules of this kind.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@lang_option
def list_(extra: tuple[str, ...], kind: str | None, form: str) -> None:
    """List all rules by family. Of each its id, its name and what it says."""
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
        mark = "" if card.status == "stable" else tr(" ({})", tr(card.status))
        said = (
            f"{card.text('summary', current_language()) or in_general(card.text('message', current_language()))}{mark}"
        )
        yield from wrapped(said, WIDTH, f"  {card.id:<6} {card.name:<{width}}  ", " " * 11)


@rules.command()
@FILES
def check(files: tuple[Path, ...]) -> None:
    """Check cards (files or folders). Exit 1 where something is wrong, each problem with file:line:column."""
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
    """Run the cases beside cards (files or folders). Exit 1 where one fails."""
    results = [result for path in _expanded(files) for result in _results(path)]
    for result in results:
        if not (quiet and result.passed):
            click.echo(str(result))
    failed = [result for result in results if not result.passed]
    click.echo(f"{len(results) - len(failed)} of {len(results)} cases passed")
    if failed or not results:
        raise click.exceptions.Exit(1)


@rules.command()
@click.argument("word", metavar="FAMILY/NAME")
@click.option(
    "--in", "folder", default="rules", show_default=True, metavar="DIR", help="Folder of rules to write into."
)
@click.option("--metric", default="actor/grad_norm", show_default=True, metavar="METRIC", help="What the rule reads.")
@lang_option
def new(word: str, folder: str, metric: str) -> None:
    """Begin a rule with its cases. They pass the checks and have the family's next id.

    A rule of the family `incident` reads the log's text, one of `config` the config, all others METRIC. Exit 2 where
    the name is taken.
    """
    from klinic.diagnostics.knowledge import metric as known

    info = known(metric)
    where = Path(folder)
    try:
        cards = all_cards([where] if where.is_dir() and not _offered(where) else ())
        made, path = scaffold(word, where, cards, metric, info.unit if info else "", info.panel if info else "policy")
    except (CardError, ScaffoldError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{folder}: cannot write there: {error.strerror}")
    click.echo(NEXT.format(id=made, path=path, cases=path.with_name(f"{path.stem}.cases.yaml")))


NEXT = """\
Wrote {path} ({id}) and {cases}. Next:
  1. say in the card what it looks at, when it fires, why, and what to try (docs/grammar.md)
  2. take thresholds from recordings and name them as source
  3. klinic rules check {path}
  4. klinic rules test {path}
  5. klinic rules docs, where the card is one of klinic's own"""


def _offered(folder: Path) -> bool:
    """Whether an installed package offers this folder, so that its cards are known already."""
    return folder.resolve() in {path.resolve() for path in folders()}


@rules.command()
@click.option("--rules", "folder", metavar="DIR", help="Cards of this folder alone, without the other pages.")
@click.option(
    "--out", default="docs", show_default=True, metavar="DIR", help="Write rules/*.md, metrics.md and launch*.md here."
)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 where a page is stale.")
def docs(folder: str | None, out: str, only_check: bool) -> None:
    """Write the pages about rules, metrics and launch commands. They come from the data that klinic works with."""
    where = Path(out)
    try:
        pages = _pages([Path(folder)] if folder else list(folders(BUILTIN)), metrics=folder is None)
        stale = _stale(where, pages)
        if not only_check:
            _write(where, pages, stale)
    except (CardError, CaseError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{out}: {error.strerror or error}")
    if only_check and stale:
        fail(f"{len(stale)} of {len(pages)} pages are stale (run klinic rules docs): {', '.join(stale)}", 1)
    click.echo(f"{len(pages)} pages, {len(stale) or 'none'} {'stale' if only_check else 'changed'}")


MADE = b"<!-- Made by `klinic rules docs`"


def _pages(cards_in: list[Path], *, metrics: bool) -> dict[str, str]:
    """Path below the folder of documentation -> text."""
    from klinic.diagnostics.preflight.launchbook import launch_pages
    from klinic.diagnostics.report.metricbook import metric_page
    from klinic.diagnostics.report.rulebook import rule_pages

    pages = {f"rules/{name}": text for name, text in rule_pages(load_cards(cards_in)).items()}
    return pages | ({"metrics.md": metric_page(), **launch_pages()} if metrics else {})


def _stale(where: Path, pages: dict[str, str]) -> list[str]:
    """Pages that differ from what is written, and pages of families that are gone."""
    differing = [name for name, text in pages.items() if not _same(where / name, text)]
    there = {f"rules/{path.name}": path for path in sorted((where / "rules").glob("*.md")) if path.is_file()}
    return differing + [name for name, path in there.items() if name not in pages and MADE in path.read_bytes()]


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _write(where: Path, pages: dict[str, str], stale: list[str]) -> None:
    for name in stale:  # a person's own page of that name is kept
        if (
            MADE in pages.get(name, "").encode()
            and (where / name).is_file()
            and MADE not in (where / name).read_bytes()
        ):
            fail(
                f"{where / name}: not made by klinic rules docs, and would be replaced; name another folder with --out"
            )
    (where / "rules").mkdir(parents=True, exist_ok=True)
    for name in stale:
        if name in pages:
            write_file(where / name, pages[name].encode())
        else:
            (where / name).unlink()


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
            found = list(card_paths(path))
            if not found:
                fail(f"{path}: no card (*.yaml) in this folder")
            yield from found
        else:
            yield path


def _s(several: Any) -> str:
    return "" if len(several) == 1 else "s"
