"""The interface's texts in English and Chinese, from one file; numbers, times and step ranges in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from klinic.dashboards.figures.scene import cards
from klinic.dashboards.figures.text import number
from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.store.entry import Entry
from klinic.diagnostics.engine.model import Finding, Incident, Override
from klinic.diagnostics.engine.wording import worded
from klinic.diagnostics.knowledge import metric
from klinic.diagnostics.language import translated, use_language
from klinic.diagnostics.report.phrases import sentence
from klinic.diagnostics.yamlfiles.yamlmemory import parsed

Say = Callable[..., str]
LANGS: tuple[Lang, ...] = ("en", "zh")


@cache
def table() -> dict[str, list[str]]:
    """key -> [English, Chinese]."""
    text = files("klinic.dashboards").joinpath("messages.yaml").read_text("utf-8")
    loaded = parsed(text)
    return {str(key): [str(part) for part in value] for key, value in loaded.items()}


def speaker(lang: Lang) -> Say:
    """`say(key, **values)` in one language; a key that the file lacks is an error."""
    place = LANGS.index(lang)

    def say(key: str, **values: object) -> str:
        return table()[key][place].format(**values) if values else table()[key][place]

    return say


def chart_title(key: str, lang: Lang) -> str:
    """A chart's title; a metric's own name where the file has none."""
    entry = table().get(f"chart.{key}")
    return entry[LANGS.index(lang)] if entry else key


def vital_title(name: str, title: str, lang: Lang) -> str:
    """A vital sign's title; as its definition says where the file has none."""
    entry = table().get(f"vital.{name}")
    return entry[LANGS.index(lang)] if entry else title


def unit_word(unit: str, lang: Lang) -> str:
    """A unit in a language; as it is where the file has no word for it."""
    entry = table().get(f"measure.{unit}")
    return entry[LANGS.index(lang)] if entry else unit


def meaning(name: str, lang: Lang) -> str:
    """What a metric means, in a language; empty for an unknown one."""
    with use_language(lang):
        info = metric(name)
    return info.meaning if info else ""


def retold_in(text: str, lang: Lang) -> str:
    """What a reader or the judge said of a run, in a language."""
    with use_language(lang):
        return translated(text)


def ended(text: str, lang: Lang) -> str:
    """A text of a card as a sentence, with the full stop of its language."""
    text = sentence(text)
    return text.removesuffix(".") + "。" if lang == "zh" and text.endswith(".") else text


def duration(seconds: float, lang: Lang) -> str:
    """12 s, 3.1 s, 4 min, 2.5 h, 3 d."""
    say = speaker(lang)
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size or (unit != "d" and seconds >= size):
            return say(f"unit.{unit}", n=number(round(seconds / size, 1 if seconds < 10 * size else 0)))
    return say("unit.s", n=number(round(seconds, 1 if seconds < 10 else 0)))


def when(finding: Finding, lang: Lang) -> str:
    """The steps at which a finding held."""
    say = speaker(lang)
    if finding.first_step == finding.last_step:
        return say("run.step", step=finding.first_step)
    if not finding.closed:
        return say("run.from", first=finding.first_step)
    return say("run.steps", first=finding.first_step, last=finding.last_step)


def summary(rule: str, fallback: str, lang: Lang, key: str = "summary") -> str:
    """A text of a rule's card in a language; English where the card has no other."""
    card = cards().get(rule)
    return (card.text(key, lang) if card and lang != "en" else "") or fallback


def told(entry: Entry, incident: Incident, part: str, lang: Lang) -> str:
    """A text of an incident (message, cause, fix) in a language, its gaps filled from the log and the config."""
    said, card = str(getattr(incident, part)), cards().get(incident.id)
    text = card.text(part, lang) if card and lang != "en" else ""
    if not text or entry.run is None or text == card_text(incident.id, part):
        return retold_in(said, lang)
    return worded(text, dict(incident.captures), entry.run.config)


def card_text(rule: str, part: str) -> str:
    """A text of a card in English."""
    card = cards().get(rule)
    return card.text(part) if card else ""


def reason(item: Override, part: str, lang: Lang) -> str:
    """A text of a remedy (because, effect, side_effect) in a language, where its card has it."""
    said = item.side_effects if part == "side_effect" else str(getattr(item, part))
    card = cards().get(item.id)
    tries = (card.data.get(lang) or {}).get("try") if card and lang != "en" else None
    if card is None or not isinstance(tries, list):
        return said
    for mine, theirs in zip(card.data.get("try") or (), tries, strict=False):
        text = str(mine.get(part) or "")
        if text and said.startswith(text) and theirs.get(part):
            added = re.split(r"(?=; )", said[len(text) :])  # what the run itself added stands behind the card's text
            return str(theirs[part]) + "".join(retold_in(one, lang) for one in added)
    return said


PLAIN_FILES = ("console.log", "metrics.jsonl", "train.log", "output.log", "stdout")


def named(run: str) -> tuple[str, str]:
    """(project, name) of a run's id: a file with a name that says nothing is known by its folder."""
    place, _, last = run.rpartition("/")
    if place and last.startswith(PLAIN_FILES):
        place, _, folder = place.rpartition("/")
        return place, f"{folder}/{last}"
    return place, last
