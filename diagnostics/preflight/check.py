"""Check a launch as a whole: keys, constraints, cards, files, machine, batch arithmetic, what will be logged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.knowledge.checks import checks
from klinic.diagnostics.preflight.batch import arithmetic, batch_numbers
from klinic.diagnostics.preflight.cards import card_findings
from klinic.diagnostics.preflight.environment import environment_findings
from klinic.diagnostics.preflight.files import file_findings, may_see_models, train_rows
from klinic.diagnostics.preflight.keys import key_findings
from klinic.diagnostics.preflight.memory import memory_findings, memory_text, reckoned
from klinic.diagnostics.preflight.model import Found, Report, Source
from klinic.diagnostics.preflight.repairs import repair
from klinic.diagnostics.preflight.seen import seen_by_rules
from klinic.diagnostics.verlconfig import Settings, violations
from klinic.diagnostics.verlconfig.compose import compose
from klinic.diagnostics.verlconfig.overrides import override

ROUNDS = 8


def preflight(
    source: Source,
    *,
    environment: Mapping[str, str] | None = None,
    gpus: int | None = None,
    gpu: str = "",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    engine: str | None = None,
) -> Report:
    """Everything that can be said of a launch before it starts.

    environment: variables of the shell that will launch. gpus: GPUs of a node, None where unknown. gpu: its name.
    select, ignore: ids or names of findings, patterns allowed. engine: who composes, see `compose`.
    """
    composed = compose(_composable(source), engine)
    settings = Settings(composed.values)
    values = {key: settings[key] for key in composed.values}
    settings = Settings(values)
    found = [*key_findings(source, composed), *_constraints(source, settings)]
    found += environment_findings(source, settings, environment or {}, gpus, gpu)
    found += file_findings(source, settings)
    mended = mend(values, [one for one in found if one.severity is Severity.ERROR])
    of = reckoned(Settings(mended), gpu) if may_see_models(source, Settings(mended)) else None
    found += memory_findings(source, Settings(mended), of)
    found += card_findings(source, mended, train_rows(source, settings))
    cards = tuple(card for card in installed_cards() if card.kind == "metric")
    return Report(
        source=source,
        found=_in_order(one for one in _deduplicated(found) if _wanted(one, select, ignore)),
        values=values,
        batch=batch_numbers(settings),
        arithmetic=tuple(arithmetic(settings)),
        seen=tuple(seen_by_rules(settings, cards)),
        memory=memory_text(of),
    )


def _in_order(found: Iterable[Found]) -> tuple[Found, ...]:
    """By place; where several stand at one, the gravest first."""
    return tuple(sorted(found, key=lambda one: (one.place.file, one.place.line, one.place.column, -one.severity)))


def _composable(source: Source) -> list[str]:
    """A config as YAML or of a run holds every key, appended ones too: each is put, whether it is there or not."""
    return [text for text in source.texts if source.user or not text.endswith("=???")]


def _constraints(source: Source, settings: Settings) -> Iterator[Found]:
    for one in violations(settings):
        severity = Severity.ERROR if one.hard else Severity.WARN if one.sure else Severity.INFO
        place = source.place_of(*one.keys)
        yield Found("VERL", one.name, severity, one.message, place, one.stage, repair(one.name, settings), one.keys)


def mend(values: Mapping[str, Any], found: Sequence[Found]) -> dict[str, Any]:
    """The values with what the findings say to write, and with what verl's constraints then still refuse."""
    mended = _with(values, [text for one in found for text in one.write])
    for _ in range(ROUNDS):
        settings = Settings(mended)
        texts = [text for one in violations(settings) if one.hard for text in repair(one.name, settings)]
        if not texts:
            break
        mended = _with(mended, texts)
    return mended


def _with(values: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    found = dict(values)
    for one in filter(None, map(override, texts)):
        if one.mark == "~":
            found.pop(one.key, None)
        else:
            found[one.key] = one.value
    settings = Settings({**found})
    return {key: settings[key] for key in found}


def _deduplicated(found: Sequence[Found]) -> list[Found]:
    """One finding a fault: a card says it better than the constraint of the same name, the heavier severity holds."""
    kept: dict[tuple[str, object], Found] = {}
    for one in found:
        mark = (one.name, (one.place, one.message) if one.id in ("KEY", "ENV", "FILE") else None)
        other = kept.get(mark)
        severity = one.severity if other is None else max(one.severity, other.severity)
        kept[mark] = replace(one, severity=severity, write=one.write or (other.write if other else ()))
    return list(kept.values())


def names() -> list[str]:
    """Ids and names of all that may be found: checks of preflight, and cards."""
    some = [(one.id, one.name) for one in checks().values()] + [(card.id, card.name) for card in installed_cards()]
    return list(dict.fromkeys(name for pair in some for name in pair))


def is_named(name: str, word: str) -> bool:
    """Whether a word, which may be a pattern, means this id or name."""
    return fnmatchcase(name.lower(), word.lower())


def _wanted(one: Found, select: Sequence[str], ignore: Sequence[str]) -> bool:
    def named(word: str) -> bool:
        return is_named(one.id, word) or is_named(one.name, word)

    return (not select or any(map(named, select))) and not any(map(named, ignore))
