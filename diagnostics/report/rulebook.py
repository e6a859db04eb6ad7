"""The rule book: an index of all cards and one page a family, as Markdown made from the cards alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from klinic.diagnostics.engine.card import Card, Level
from klinic.diagnostics.engine.cases import load_cases
from klinic.diagnostics.engine.wording import in_general
from klinic.diagnostics.report.pages import bullet, code, para, prose, table, titled
from klinic.diagnostics.report.phrases import sentence
from klinic.diagnostics.report.words import count, number

MADE = "<!-- Made by `klinic rules docs` from the cards; change the cards, then make it anew. -->"
TITLES = {
    "kl": "KL to the reference",
    "moe": "Mixture of experts",
    "offpolicy": "Off-policy and rollout",
    "incident": "Incidents",
}
Names = Mapping[str, str]  # name of a card -> its family


def rule_pages(cards: Iterable[Card]) -> dict[str, str]:
    """File name (README.md, policy.md, ...) -> page. Same cards, same text."""
    ordered = sorted(cards, key=lambda card: (_family(card), card.id))
    families = {family: list(group) for family, group in groupby(ordered, key=_family)}
    names = {card.name: _family(card) for card in ordered}
    pages = {f"{family}.md": _family_page(family, group, names) for family, group in families.items()}
    return {"README.md": _index(families), **pages}


def _family(card: Card) -> str:
    return card.family or "own"


def _title(family: str) -> str:
    return TITLES.get(family, family.capitalize())


def _severities(card: Card) -> str:
    found = {level.severity for level in card.levels} | {match.severity for match in card.matches}
    return ", ".join(str(severity) for severity in sorted(found))


def _text(card: Card, key: str) -> str:
    """A text of the card; parts that stand only where the log tells more are left out."""
    return prose(in_general(card.text(key)))


def _line(card: Card) -> str:
    return _text(card, "summary") or _text(card, "message")


def _index(families: Mapping[str, Sequence[Card]]) -> str:
    total = count(sum(map(len, families.values())), "rule")
    kinds = count(len(families), "family").replace("familys", "families")
    intro = para(
        f"{total} in {kinds}. A rule is one card: a YAML file written in [the grammar of cards](../grammar.md). "
        "`klinic explain NAME` shows a card in the terminal."
    )
    parts = [f"# Rules\n\n{MADE}", intro, *(_family_index(family, cards) for family, cards in families.items())]
    return "\n\n".join(parts) + "\n"


def _family_index(family: str, cards: Sequence[Card]) -> str:
    rows = [
        (card.id, f"[{card.name}]({family}.md#{card.name})", _severities(card), card.status, _needs(card), _line(card))
        for card in cards
    ]
    head = ("id", "name", "levels", "status", "needs", "says")
    return f"## [{_title(family)}]({family}.md)\n\n{table(head, rows)}"


def _needs(card: Card) -> str:
    if card.kind == "incident":
        return "the log's text"
    return ", ".join(" or ".join(code(part.strip()) for part in need.split("|")) for need in card.needs) or "config"


def _family_page(family: str, cards: Sequence[Card], names: Names) -> str:
    contents = "\n".join(f"- [{card.name}](#{card.name}): {_line(card)}" for card in cards)
    parts = [f"# {_title(family)}\n\n{MADE}\n\n[All rules](README.md)\n\n{contents}"]
    return "\n\n".join([*parts, *("\n\n".join(_card(card, names)) for card in cards)]) + "\n"


def _card(card: Card, names: Names) -> Iterator[str]:
    yield f"## {card.name}"
    yield para(f"**{sentence(_line(card))}** {code(card.id)}, {card.status}, {card.confidence} confidence.")
    yield from (para(text) for text in (_text(card, "why"),) if text)
    yield from _fires(card)
    yield from titled("Thresholds", _thresholds(card))
    for title, key in (("Cause", "cause"), ("Fix", "fix")):
        if card.text(key):
            yield para(f"**{title}.** {_text(card, key)}")
    if card.text("wrong_when"):
        yield para(f"**Wrong when:** {_ended(_text(card, 'wrong_when'))}")
    yield from titled("Looks like", _look_alikes(card, names))
    if card.explains:
        yield para(f"**Explains** {', '.join(_link(name, card, names) for name in card.explains)}.")
    yield from titled("What to try, in this order", _remedies(card))
    yield from titled(
        "References", "\n".join(f"- [{prose(r['title'])}]({r['url']})" for r in card.data.get("references") or ())
    )
    yield from titled("Cases", _cases(card))


def _link(name: str, seen_from: Card, names: Names) -> str:
    if name not in names:
        return name
    page = "" if names[name] == _family(seen_from) else f"{names[name]}.md"
    return f"[{name}]({page}#{name})"


def _fires(card: Card) -> Iterator[str]:
    if card.matches:
        lines = [bullet(f"{match.severity}: {code(match.pattern)}") for match in card.matches]
        yield from titled("Found by, in the order of how much they tell", "\n".join(lines))
        return
    lines = [bullet(f"{level.severity} when {code(level.when)}{_patience(level)}") for level in card.levels]
    lines += [bullet(f"where {code(f'{name} = {text}')}") for name, text in card.let.items()]
    if card.applies:
        lines.append(bullet(f"judged only where {code(card.applies)}"))
    lines.append(bullet(f"needs {_needs(card)}"))
    yield from titled("Fires", "\n".join(lines))


def _patience(level: Level) -> str:
    if level.of == 1:
        return ""
    unit = "evaluations" if level.unit == "evals" else "steps"
    return f", at {level.k} of {level.of} {unit}"


def _thresholds(card: Card) -> str:
    rows = [(code(name), number(t.value), prose(t.unit), prose(t.source)) for name, t in card.thresholds.items()]
    return table(("name", "value", "unit", "source"), rows) if rows else ""


def _look_alikes(card: Card, names: Names) -> str:
    others = card.data.get("look_alikes") or ()
    return "\n".join(bullet(f"{_link(other['name'], card, names)}: {prose(other['because'])}") for other in others)


_TOLD = (("because", "Because"), ("effect", "Effect"), ("side_effect", "Price"))


def _remedies(card: Card) -> str:
    return "\n".join(_remedy(rank, remedy) for rank, remedy in enumerate(card.remedies, 1))


def _remedy(rank: int, remedy: Mapping[str, Any]) -> str:
    where = f" ({remedy['framework']})" if remedy.get("framework", "verl") != "verl" else ""
    condition = f" if {code(remedy['if'])}" if remedy.get("if") else ""
    change = f"{code(remedy['key'])} to {code(_spelt(remedy.get('to')))}{where}{condition}"
    told = " ".join(f"{word}: {_ended(remedy[key])}" for key, word in _TOLD if remedy.get(key))
    return bullet(f"{change}. {told}", f"{rank}.")


def _ended(text: str) -> str:
    return prose(text).rstrip(".") + "."


def _spelt(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cases(card: Card) -> str:
    path = card.cases_path
    if path is None or not path.exists():
        return ""
    return "\n".join(bullet(f"{prose(case.name)}: {_expected(case.data.get('expect'))}") for case in load_cases(path))


def _expected(expect: Any) -> str:
    if not isinstance(expect, Mapping):
        return str(expect)
    if "not_applicable" in expect:
        return f"not applicable ({expect['not_applicable']})"
    first = expect.get("first_step")
    since = (
        f" from step {' to '.join(map(str, first)) if isinstance(first, list) else first}" if first is not None else ""
    )
    return f"{expect.get('severity', 'fires')}{since}"
