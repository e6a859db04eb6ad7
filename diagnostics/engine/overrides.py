"""Overrides of cards: `--set RULE.threshold=value` and profiles. Thresholds and levels only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from klinic.diagnostics.engine.card import LEVELS, Card, CardError, Level, level_from
from klinic.diagnostics.engine.compiled import compile_card
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.suggest import hint
from klinic.diagnostics.yamlfiles import cardyaml


def with_overrides(cards: Iterable[Card], overrides: Mapping[str, Mapping[str, Any]]) -> tuple[Card, ...]:
    """Cards with thresholds (numbers) and levels (mappings, or None to drop one) replaced, by id or name.

    Raises CardError for an unknown card, threshold or level, with the nearest known one.
    """
    cards = tuple(cards)
    known = {word: card.id for card in cards for word in (card.name, card.id)}
    changes: dict[str, dict[str, Any]] = {}
    for word, change in overrides.items():
        if word not in known:
            raise CardError(f"no rule {word!r}{hint(word, list(known))}")
        changes.setdefault(known[word], {}).update(change)
    return tuple(_changed(card, changes[card.id]) if card.id in changes else card for card in cards)


def _changed(card: Card, change: Mapping[str, Any]) -> Card:
    """The card with another threshold or level, which may be one that its expressions cannot have."""
    card = _with(card, change)
    if card.kind != "incident":
        compile_card(card)
    return card


def _with(card: Card, change: Mapping[str, Any]) -> Card:
    for name, value in change.items():
        if name in LEVELS:
            card = _with_level(card, name, value)
        elif name in card.thresholds:
            card = _with_threshold(card, name, value)
        else:
            words = [*card.thresholds, *LEVELS]
            raise CardError(f"{card.id} has no threshold {name!r}{hint(name, words)} (it has {', '.join(words)})")
    return card


def _with_threshold(card: Card, name: str, value: Any) -> Card:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CardError(f"{card.id}.{name}: {value!r} is not a number")
    old = card.thresholds[name]
    new = type(old)(float(value), old.unit, "override")
    return replace(card, thresholds={**card.thresholds, name: new})


def _with_level(card: Card, name: str, value: Any) -> Card:
    rest = [level for level in card.levels if level.severity != Severity[name.upper()]]
    if value is None or value is False:
        return replace(card, levels=tuple(rest))
    old = next((level for level in card.levels if level.severity == Severity[name.upper()]), None)
    entry = _merged(old, value)
    if "when" not in entry:
        raise CardError(f"{card.id}.{name}: a new level needs `when`")
    levels = sorted([*rest, level_from(name, entry)], key=lambda level: level.severity, reverse=True)
    return replace(card, levels=tuple(levels))


def _merged(old: Level | None, value: Mapping[str, Any]) -> dict[str, Any]:
    before = {"when": old.when, "for": {"k": old.k, "of": old.of, "unit": old.unit}} if old else {}
    return {**before, **value}


def parse_set(text: str) -> tuple[str, str, float]:
    """`POL03.floor=0.05` -> ("POL03", "floor", 0.05). Raises CardError."""
    left, equals, right = text.partition("=")
    rule, dot, threshold = left.strip().rpartition(".")
    if not equals or not dot or not rule:
        raise CardError(f"--set wants RULE.threshold=value, not {text!r}")
    try:
        value = float(right)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CardError(f"--set {text}: {right!r} is not a number")
    return rule, threshold, value


def overrides_from(texts: list[str] | tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Overrides of several `--set` texts."""
    result: dict[str, dict[str, Any]] = {}
    for rule, threshold, value in map(parse_set, texts):
        result.setdefault(rule, {})[threshold] = value
    return result


def load_profile(name_or_path: str, folder: Path | None = None) -> dict[str, dict[str, Any]]:
    """Overrides of a profile: a name in `rules/profiles`, or a YAML file. `default` is empty where it has no file.

    The file maps a card's id or name to {threshold: value, level: {when, for} or null}. Raises CardError.
    """
    path = Path(name_or_path)
    if not path.suffix:
        folder = folder or _profiles()
        path = folder / f"{name_or_path}.yaml"
        if path not in folder.glob("*.yaml"):  # a name may be anything, longer than a file's can be too
            return _missing(name_or_path, folder)
    data, _, problem = cardyaml.read(path)
    if problem:
        raise CardError(str(problem))
    rules = data.get("rules", data) if isinstance(data, Mapping) else None
    if not isinstance(rules, Mapping) or not all(isinstance(change, Mapping) for change in rules.values()):
        raise CardError(f"{path}:1:1: a profile maps rules to their thresholds and levels")
    return {str(rule): dict(change) for rule, change in rules.items()}


def _profiles() -> Path:
    return (
        Path(__file__).resolve().parents[2] / "rules" / "profiles"
    )  # beside this package, in a checkout and installed


def _missing(name: str, folder: Path) -> dict[str, dict[str, Any]]:
    if name == "default":
        return {}
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    there = ", ".join(dict.fromkeys(["default", *known]))
    raise CardError(f"no profile {name!r}{hint(name, known)} (there are {there})")
