"""Explain a setting, a variable, a metric, a rule or a check: what it says, when it is wrong, what to do."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.language import current_language, later, tr

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from klinic.diagnostics.engine.card import Card
    from klinic.diagnostics.knowledge import MetricInfo
    from klinic.diagnostics.knowledge.checks import Check
    from klinic.diagnostics.knowledge.parameters import Parameter
    from klinic.diagnostics.report.layout import Page

    Known = Card | MetricInfo | Parameter | Check

BETTER = {
    "higher_is_better": later("higher is better"),
    "lower_is_better": later("lower is better"),
    "neither": later("neither way is better"),
}


def _complete(_context: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from klinic.diagnostics.knowledge.checks import checks
    from klinic.diagnostics.knowledge.parameters import parameters

    words = [*_rules(), *_metrics(), *parameters(), *checks()]
    return [CompletionItem(word) for word in words if word.lower().startswith(begun.lower())]


@click.command()
@click.argument("word", metavar="KEY|ENV|METRIC|RULE|CHECK", shell_complete=_complete)
@lang_option
@click.option("--format", "-f", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(word: str, form: str) -> None:
    """Explain a setting, an environment variable, a metric, a rule or a check.

    KEY is verl's (actor_rollout_ref.rollout.n), its last part or a near spelling; ENV a variable such as VLLM_DTYPE;
    METRIC is verl's name (actor/ppo_kl), its last part (ppo_kl) or another framework's name for it; RULE is an id
    (POL01) or a name (update-too-large); CHECK is a finding of `klinic preflight` or a line of `klinic env` by name
    (mini-batch-within-batch, shared-memory), or a whole family (VERL, KEY, ENV, GPU, FILE, MEM, MACHINE).
    """
    from klinic.diagnostics.report.layout import Page

    rules = _rules()
    cards = list({card.id: card for card in rules.values()}.values())
    found = _found(word, rules, cards)
    if form == "json":
        from klinic.diagnostics.report.explainjson import as_json

        click.echo(as_json(found, cards), nl=False)
        return
    page = Page(color=sys.stdout.isatty(), width=min(100, shutil.get_terminal_size().columns))
    for one in found:
        _page(page, one, cards)
    click.echo(page.render(), nl=False)


def _found(word: str, rules: Mapping[str, Card], cards: Sequence[Card]) -> list[Known]:
    """What the word names: a rule, a check, a setting written out, metrics, else what is spelt like a setting."""
    from klinic.diagnostics.knowledge.parameters import parameters, search

    named: list[Known] = [one for one in (rules.get(_slug(word)),) if one is not None]
    named += _checks(word)
    if named:
        return named
    near = [parameters()[name] for name in search(word)]
    if near and near[0].name.lower() == word.strip().lower():
        return [near[0]]
    metrics = _find_metric(word)
    wanted = word.strip() if metrics or not near else near[0].name.rpartition(".")[2]
    tails = [one for one in near if one.name.rpartition(".")[2] == wanted]
    return [*metrics, *tails] or [
        *_fail(
            word,
            [*(name for card in cards for name in (card.name, card.id)), *_metrics(), *parameters(), *_check_names()],
        )
    ]


def _page(page: Page, one: Known, cards: Sequence[Card]) -> None:
    from klinic.diagnostics.knowledge import MetricInfo
    from klinic.diagnostics.knowledge.checks import Check
    from klinic.diagnostics.knowledge.parameters import Parameter
    from klinic.diagnostics.report.checkpage import check_page
    from klinic.diagnostics.report.parameterpage import parameter_page
    from klinic.diagnostics.report.rulepage import rule_page

    if isinstance(one, Parameter):
        parameter_page(page, one, cards)
    elif isinstance(one, Check):
        check_page(page, one)
    elif isinstance(one, MetricInfo):
        _metric(page, one, cards)
    else:
        rule_page(page, one)


def _checks(word: str) -> list[Check]:
    """The check of this name, or all of a family."""
    from klinic.diagnostics.knowledge.checks import checks

    one = checks().get(_slug(word))
    return [one] if one is not None else [some for some in checks().values() if some.id == word.strip().upper()]


def _check_names() -> list[str]:
    from klinic.diagnostics.knowledge.checks import checks

    return list(checks())


def _slug(word: str) -> str:
    return word.strip().lower().replace("_", "-").replace(" ", "-")


def _rules() -> Mapping[str, Card]:
    from klinic.diagnostics.engine.library import all_cards

    try:
        cards = all_cards()
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    return {word: card for card in cards for word in (card.id.lower(), card.name)}


def _metrics() -> list[str]:
    """Every metric's plain name that the knowledge has, those of derived signals included."""
    from klinic.diagnostics.knowledge.metrics import derived_patterns, known_patterns, spread

    return [name for pattern in (*known_patterns(), *derived_patterns()) for name in spread(pattern)]


def _find_metric(word: str) -> list[MetricInfo]:
    """The metric of this name; else those that another framework calls so, or whose last part it is."""
    from klinic.diagnostics.knowledge import canonical, metric

    frameworks = ("verl", "trl", "openrlhf", "nemo_rl", "areal", "slime", "ms-swift", "unsloth", "torchforge")
    names = [word, *(canonical(word, framework) for framework in frameworks)]
    tails = [name for name in _metrics() if name.endswith(f"/{word}")]
    for some in (names, tails):
        found = dict.fromkeys(info for name in some if (info := metric(name)) is not None)
        if found:
            return list(found)
    return []


def _fail(word: str, known: Sequence[str]) -> list[MetricInfo]:
    from klinic.diagnostics.suggest import nearest

    tails = {name.rsplit("/", 1)[-1]: name for name in known}
    hint = nearest(word, known) or nearest(word, list(tails))
    raise click.ClickException(f"no metric, rule or setting {word!r}{hint}")


def _metric(page: Page, info: MetricInfo, cards: Sequence[Card]) -> None:
    from klinic.diagnostics.report.words import bounds

    page.line(page.style(info.name, "heading"))
    page.text(info.meaning)
    page.line()
    verb = tr("Known") if info.formula else tr("Logged")
    page.text(tr("Unit: {}; {}. {}: {}.", info.unit, tr(BETTER[info.direction]), verb, info.when))
    healthy = bounds(info.low, info.high)
    page.text(tr("Healthy runs show {}.", healthy) if healthy else tr("No range: {}.", info.no_range))
    _formula(page, info)
    readers = [card for card in cards if any(info.name in part for part in (*card.needs, *card.expressions))]
    if readers:
        page.heading(tr("Rules that read it"))
    for card in readers:
        page.text(tr("{}: {}", f"{card.name} ({card.id})", card.text("summary", current_language())), 2, 4)
    page.line()


def _formula(page: Page, info: MetricInfo) -> None:
    """How a derived signal is computed, in the language of cards."""
    if info.formula:
        page.heading(tr("Computed as"))
        page.text(info.formula, 2, 4)
    for name, text in info.let:
        page.text(tr("where {} = {}", name, text), 2, 4)
