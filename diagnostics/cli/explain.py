"""Explain a setting, an environment variable, a metric or a rule: what it says, when it is wrong, what to do."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from klinic.diagnostics.engine.card import Card
    from klinic.diagnostics.knowledge import MetricInfo
    from klinic.diagnostics.knowledge.parameters import Parameter
    from klinic.diagnostics.report.layout import Page

BETTER = {
    "higher_is_better": "higher is better",
    "lower_is_better": "lower is better",
    "neither": "neither way is better",
}


def _complete(_context: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from klinic.diagnostics.knowledge.parameters import parameters

    words = [*_rules(), *_metrics(), *parameters()]
    return [CompletionItem(word) for word in words if word.lower().startswith(begun.lower())]


@click.command()
@click.argument("word", metavar="KEY|ENV|METRIC|RULE", shell_complete=_complete)
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of a rule's texts [en].")
@click.option("--format", "-f", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(word: str, lang: str, form: str) -> None:
    """Explain a setting, an environment variable, a metric or a rule.

    KEY is verl's (actor_rollout_ref.rollout.n), its last part or a near spelling; ENV a variable such as VLLM_DTYPE;
    METRIC is verl's name (actor/ppo_kl), its last part (ppo_kl) or another framework's name for it; RULE is an id
    (POL01) or a name (update-too-large).
    """
    from klinic.diagnostics.report.layout import Page

    rules = _rules()
    cards = list({card.id: card for card in rules.values()}.values())
    found = _found(word, rules, cards)
    if form == "json":
        from klinic.diagnostics.report.explained import as_json

        click.echo(as_json(found, cards, lang), nl=False)
        return
    page = Page(color=sys.stdout.isatty(), width=min(100, shutil.get_terminal_size().columns))
    for one in found:
        _page(page, one, cards, lang)
    click.echo(page.render(), nl=False)


def _found(word: str, rules: Mapping[str, Card], cards: Sequence[Card]) -> list[Card | MetricInfo | Parameter]:
    """What the word names: a rule, a setting written out, metrics, else what is spelt like a setting."""
    from klinic.diagnostics.knowledge.parameters import parameters, search

    card = rules.get(_slug(word))
    if card is not None:
        return [card]
    near = [parameters()[name] for name in search(word)]
    if near and near[0].name.lower() == word.strip().lower():
        return [near[0]]
    metrics = _find_metric(word)
    wanted = word.strip() if metrics or not near else near[0].name.rpartition(".")[2]
    tails = [one for one in near if one.name.rpartition(".")[2] == wanted]
    return [*metrics, *tails] or [*_fail(word, [*(card.name for card in cards), *_metrics(), *parameters()])]


def _page(page: Page, one: Card | MetricInfo | Parameter, cards: Sequence[Card], lang: str) -> None:
    from klinic.diagnostics.knowledge import MetricInfo
    from klinic.diagnostics.knowledge.parameters import Parameter
    from klinic.diagnostics.report.parameterpage import parameter_page

    if isinstance(one, Parameter):
        parameter_page(page, one, cards)
    elif isinstance(one, MetricInfo):
        _metric(page, one, cards)
    else:
        _rule(page, one, lang)


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
    from klinic.diagnostics.cli.group import nearest

    tails = {name.rsplit("/", 1)[-1]: name for name in known}
    hint = nearest(word, known) or nearest(word, list(tails))
    raise click.ClickException(f"no metric, rule or setting {word!r}{hint}")


def _rule(page: Page, card: Card, lang: str) -> None:
    page.line(page.style(f"{card.name} ({card.id})", "heading"))
    page.text(f"{card.family or 'own'} {card.kind} rule, {card.status}, {card.confidence} confidence")
    page.line()
    page.text(_sentence(card.text("summary", lang) or card.text("message", lang)))
    page.text(card.text("why", lang))
    _evidence(page, card)
    for title, key in (("Cause", "cause"), ("Fix", "fix"), ("Wrong when", "wrong_when")):
        if card.text(key, lang):
            page.line()
            page.text(f"{title}: {card.text(key, lang)}")
    _related(page, card)
    _remedies(page, card.remedies)
    _references(page, card.data.get("references") or ())


def _sentence(text: str) -> str:
    from klinic.diagnostics.report.phrases import sentence

    return sentence(text)


def _evidence(page: Page, card: Card) -> None:
    """What makes the card fire: levels, local names, thresholds with their sources; or patterns of an incident."""
    from klinic.diagnostics.report.phrases import shortened

    if card.levels or card.matches:
        page.heading("Fires")
    for level in card.levels:
        patience = "" if level.of == 1 else f", at {level.k} of {level.of} {level.unit}"
        page.labelled(str(level.severity), str(level.severity), f"{level.when}{patience}")
    for name, text in card.let.items():
        page.text(f"where {name} = {text}", 9, 13)
    for name, threshold in card.thresholds.items():
        source = f" ({threshold.source})" if threshold.source else ""
        page.text(f"and {name} = {threshold.value:g} {threshold.unit}{source}", 9, 13)
    for match in card.matches:
        page.labelled(str(match.severity), str(match.severity), shortened(match.pattern, 160))
    if card.applies:
        page.text(f"judged only where {card.applies}", 2, 4)
    if card.needs:
        page.text(f"needs {', '.join(card.needs)}", 2, 4)


def _related(page: Page, card: Card) -> None:
    if card.explains:
        page.line()
        page.text(f"Explains: {', '.join(card.explains)}")
    if card.data.get("look_alikes"):
        page.heading("Looks like")
    for other in card.data.get("look_alikes") or ():
        page.text(f"{other['name']}: {other['because']}", 2, 4)


def _remedies(page: Page, remedies: Sequence[Mapping[str, Any]]) -> None:
    if remedies:
        page.heading("To try, in this order")
    for remedy in remedies:
        condition = f", if {remedy['if']}" if "if" in remedy else ""
        page.text(f"{remedy['key']} = {remedy.get('to')}{condition}", 2, 4)
        told = (f"{label}: {remedy[key]}" for label, key in _TOLD if remedy.get(key))
        page.text("; ".join(told), 6)


_TOLD = (("because", "because"), ("expect", "effect"), ("price", "side_effect"))


def _references(page: Page, references: Sequence[Mapping[str, Any]]) -> None:
    if references:
        page.heading("References")
    for reference in references:
        page.line(f"  {reference['title']}: {reference['url']}")


def _metric(page: Page, info: MetricInfo, cards: Sequence[Card]) -> None:
    from klinic.diagnostics.report.words import bounds

    page.line(page.style(info.name, "heading"))
    page.text(info.meaning)
    page.line()
    verb = "Known" if info.formula else "Logged"
    page.text(f"Unit: {info.unit}; {BETTER[info.direction]}. {verb}: {info.when}.")
    healthy = bounds(info.low, info.high)
    page.text(f"Healthy runs show {healthy}." if healthy else f"No range: {info.no_range}.")
    _formula(page, info)
    readers = [card for card in cards if any(info.name in part for part in _expressions(card))]
    if readers:
        page.heading("Rules that read it")
    for card in readers:
        page.text(f"{card.name} ({card.id}): {card.text('summary')}", 2, 4)
    page.line()


def _formula(page: Page, info: MetricInfo) -> None:
    """How a derived signal is computed, in the language of cards."""
    if info.formula:
        page.heading("Computed as")
        page.text(info.formula, 2, 4)
    for name, text in info.let:
        page.text(f"where {name} = {text}", 2, 4)


def _expressions(card: Card) -> list[str]:
    return [*card.needs, card.applies, *card.let.values(), *(level.when for level in card.levels)]
