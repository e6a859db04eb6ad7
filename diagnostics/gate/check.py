"""Hold a run to what klinic.yaml and the command line ask of it; the result is a sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.gate.settings import Accepted, Settings
from klinic.diagnostics.language import current_language, tr, translated
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.diagnosissheet import finding_item, incident_item, unjudged
from klinic.diagnostics.report.sheet import Item, Sheet
from klinic.diagnostics.report.translated import translated_case
from klinic.diagnostics.survey.case import Case

TOOL = "klinic check"
Families = Mapping[str, str]  # rule -> its family
LEVELS = {"info": Severity.INFO, "warn": Severity.WARN, "error": Severity.ERROR}


def sheet(case: Case, settings: Settings, today: date, notes: Sequence[str] = ()) -> Sheet:
    """What was asked of a run that was judged so, in the language that is spoken. notes: more than its own."""
    items = [*case.demanded.get(current_language(), ()), *_rules(case, settings, today)]
    return Sheet(TOOL, case.run.source.path, tuple(items), (*case.run.notes, *notes))


def unread(path: str, problem: str, tool: str = TOOL) -> Sheet:
    """The sheet of a path that could not be read."""
    return Sheet(tool, path, (Item("reading", "READING", tr("reading the run"), "unsure", translated(problem)),))


def _rules(case: Case, settings: Settings, today: date) -> list[Item]:
    if settings.fail_on == "never" and not settings.rules:
        words = tr("fail_on is never and no rule is named: findings do not count")
        return [Item("rules", "RULES", tr("findings and incidents"), "skipped", words, Severity.NONE)]
    if case.diagnosis is None:
        return [Item("rules", "RULES", tr("findings and incidents"), "unsure", case.problem)]
    judged = translated_case(Judged(case.run, case.diagnosis))
    families = {one.name: one.family for one in judged.diagnosis.findings}
    items = _accept(_found(judged, settings, families), settings.accepted, families, today)
    if not any(item.status == "failed" for item in items):
        items.insert(0, _quiet(settings))
    return [*items, *([unjudged(judged.diagnosis)] if judged.diagnosis.not_applicable else [])]


def _quiet(settings: Settings) -> Item:
    least = settings.fail_on
    if least == "never":
        words = tr("none of {} fired", ", ".join(settings.rules))
    else:
        words = tr("none at {}", tr(least)) if least == "error" else tr("none at {} or above", tr(least))
    title = tr("findings and incidents, profile {}", _name(settings.profile))
    return Item("rules", "RULES", title, "passed", words, Severity.NONE)


def _name(profile: str) -> str:
    return profile.rsplit("/", 1)[-1]


def _found(judged: Judged, settings: Settings, families: Families) -> list[Item]:
    path, found = judged.run.source.path, judged.diagnosis
    least = LEVELS.get(settings.fail_on, Severity.ERROR)
    items = [incident_item(one, path, least) for one in found.incidents]
    items += [finding_item(one, path, least, found.prescription) for one in found.findings]
    if settings.fail_on == "never":
        items = [replace(item, status="remark") for item in items]
    return [_demanded(item, settings.rules, families) for item in items]


def _named(item: Item, word: str, families: Families) -> bool:
    """Whether a word (id, name, family, pattern) names the rule of an item."""
    family = "incident" if item.kind == "incident" else families.get(item.name, "")
    return any(fnmatchcase(text.lower(), word.lower()) for text in (item.id, item.name, family))


def _demanded(item: Item, rules: Sequence[str], families: Families) -> Item:
    """A rule that the settings name fails at any severity."""
    return replace(item, status="failed") if any(_named(item, word, families) for word in rules) else item


def _accept(items: Sequence[Item], accepted: Sequence[Accepted], families: Families, today: date) -> list[Item]:
    shown, used = [], set()
    for item in items:
        hits = [one for one in accepted if _named(item, one.rule, families)]
        used.update(hits)
        shown.append(_accepted(item, hits, today) if hits and item.status == "failed" else item)
    return [*shown, *(_needless(one) for one in accepted if one not in used)]


def _needless(one: Accepted) -> Item:
    words = tr("nothing to accept any more; take it out ({})", one.reason)
    return Item("accepted", "ACCEPTED", tr("accepted {}", one.rule), "remark", words, Severity.INFO, one.spot)


def _accepted(item: Item, hits: Sequence[Accepted], today: date) -> Item:
    best = max(hits, key=lambda one: one.until)
    if best.until < today:
        words = tr("It was accepted until {} ({}); that day is over.", best.until, best.reason)
        return replace(item, message=f"{item.message} {words}")
    why = tr("accepted until {}: {}", best.until, best.reason)
    return replace(item, status="skipped", accepted=why, message=f"{why}. {item.message}")
