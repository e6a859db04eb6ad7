"""A card: one rule with its levels, thresholds, texts and remedies, as written in YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

from klinic.diagnostics.engine.model import Confidence, Severity
from klinic.diagnostics.signals import Scope

KEYS = (
    "id", "name", "kind", "status", "confidence", "since", "applies", "needs", "let", "levels", "match", "thresholds",
    "message", "cause", "fix", "summary", "why", "wrong_when", "look_alikes", "explains", "try", "references", "panel",
    "zh",
)  # fmt: skip
LEVELS = ("info", "warn", "error")
Unit = Literal["steps", "evals"]


class CardError(ValueError):
    """A card that cannot be loaded; the text is `file:line:column: what`."""


@dataclass(frozen=True)
class Threshold:
    """A number of a card as data: value, unit, where it comes from."""

    value: float
    unit: str = ""
    source: str = ""


@dataclass(frozen=True)
class Level:
    """One severity of a card: holds when `when` was true at k of the last `of` known rows."""

    severity: Severity
    when: str
    k: int = 1
    of: int = 1
    unit: Unit = "steps"


@dataclass(frozen=True)
class Match:
    """A text pattern of an incident card and the severity that it stands for."""

    pattern: str
    severity: Severity


@dataclass(frozen=True)
class Card:
    """A rule. `data` is the YAML as loaded, `path` its file; texts are read from `data` on use.

    levels: highest severity first. thresholds: by name. let: name -> expression, in order of definition.
    matches: incident cards' patterns, in order.
    """

    id: str
    name: str
    kind: Literal["metric", "config", "incident"]
    data: Mapping[str, Any]
    path: Path | None = None
    levels: tuple[Level, ...] = ()
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    matches: tuple[Match, ...] = ()

    @property
    def status(self) -> str:
        """experimental, stable or deprecated."""
        return str(self.data.get("status", "stable"))

    @property
    def confidence(self) -> Confidence:
        """How sure the card is when it fires."""
        return cast(Confidence, self.data.get("confidence", "medium"))

    @property
    def family(self) -> str:
        """Folder that the card lives in: policy, reward, memory, ..."""
        return self.path.parent.name if self.path else ""

    @property
    def panel(self) -> str:
        """Panel of the dashboard that shows what the card looks at."""
        return str(self.data.get("panel", ""))

    @property
    def applies(self) -> str:
        """Expression that must hold for the card to judge, "" where it always does."""
        return _expression(self.data.get("applies", ""))

    @property
    def needs(self) -> tuple[str, ...]:
        """Metrics that must be there; `a | b` either."""
        return tuple(str(need) for need in self.data.get("needs") or ())

    @property
    def explains(self) -> tuple[str, ...]:
        """Names of cards whose findings this card's finding causes."""
        return tuple(str(name) for name in self.data.get("explains") or ())

    @property
    def remedies(self) -> tuple[Mapping[str, Any], ...]:
        """The `try` entries in order."""
        return tuple(self.data.get("try") or ())

    @property
    def let(self) -> dict[str, str]:
        """Local names and their expressions."""
        return {str(name): _expression(text) for name, text in (self.data.get("let") or {}).items()}

    @property
    def expressions(self) -> list[str]:
        """All that the card computes: where it applies, its local names, its levels."""
        return [self.applies, *self.let.values(), *(level.when for level in self.levels)]

    def text(self, key: str, lang: str = "en") -> str:
        """A text of the card (summary, why, wrong_when, message, cause, fix), in `lang` where it is written."""
        translated = (self.data.get(lang) or {}).get(key) if lang != "en" else None
        return str(translated or self.data.get(key) or "").strip()

    def tries(self, lang: str = "en") -> tuple[Mapping[str, Any], ...]:
        """The `try` entries in order, their sentences in `lang` where they are written: `zh.try`, one a remedy."""
        told = (self.data.get(lang) or {}).get("try") if lang != "en" else None
        if not isinstance(told, list) or len(told) != len(self.remedies):
            return self.remedies
        return tuple({**remedy, **texts} for remedy, texts in zip(self.remedies, told, strict=True))

    def looks(self, lang: str = "en") -> tuple[Mapping[str, Any], ...]:
        """The `look_alikes` in order (name, because), in `lang` where they are written: one text each."""
        found = tuple(self.data.get("look_alikes") or ())
        told = (self.data.get(lang) or {}).get("look_alikes") if lang != "en" else None
        if not isinstance(told, list) or len(told) != len(found):
            return found
        return tuple({**one, "because": text} for one, text in zip(found, told, strict=True))

    @cached_property
    def cases_path(self) -> Path | None:
        """Where the card's cases stand, whether or not the file is there."""
        return self.path.with_name(f"{self.path.stem}.cases.yaml") if self.path else None

    @cached_property
    def worked_out(self) -> dict[Any, Any]:
        """What others worked out of this card and keep with it."""
        return {}

    def scope(self) -> Scope:
        """Names that the card's expressions may use."""
        return Scope({name: threshold.value for name, threshold in self.thresholds.items()}, self.let)


def _expression(value: Any) -> str:
    if isinstance(value, bool):
        return str(value)
    return str(value).strip()


def card_from(data: Mapping[str, Any], path: Path | None = None) -> Card:
    """A card from loaded YAML. Raises KeyError, TypeError or ValueError where a part is missing or misshapen."""
    return Card(
        id=str(data["id"]),
        name=str(data["name"]),
        kind=data["kind"],
        data=data,
        path=path,
        levels=_levels(data.get("levels") or {}),
        thresholds={str(name): _threshold(entry) for name, entry in (data.get("thresholds") or {}).items()},
        matches=tuple(Match(m["pattern"], Severity[m["severity"].upper()]) for m in data.get("match") or ()),
    )


def _threshold(entry: Any) -> Threshold:
    if isinstance(entry, Mapping):
        return Threshold(entry["value"], str(entry.get("unit", "")), str(entry.get("source", "")))
    return Threshold(entry)


def _levels(levels: Mapping[str, Any]) -> tuple[Level, ...]:
    made = [level_from(name, entry) for name, entry in levels.items()]
    return tuple(sorted(made, key=lambda level: level.severity, reverse=True))


def level_from(name: str, entry: Mapping[str, Any]) -> Level:
    """A level as written: `when`, and `for` {k, of, unit}."""
    patience = entry.get("for") or {}
    k = int(patience.get("k", 1))
    return Level(
        Severity[name.upper()], _expression(entry["when"]), k, int(patience.get("of", k)), patience.get("unit", "steps")
    )
