"""A diagnosis as a sheet, for the formats of continuous integration."""

from __future__ import annotations

from collections.abc import Sequence

from klinic.diagnostics.engine.model import Diagnosis, Finding, Incident, Override, Severity
from klinic.diagnostics.language import tr, translated
from klinic.diagnostics.report.phrases import evidence_words, lacking, sentence, shortened, telling, when
from klinic.diagnostics.report.sheet import Item, Sheet, Spot, Status
from klinic.diagnostics.report.words import count

REASONS = 6  # groups of rules that were not judged


def sheet_of(found: Diagnosis, path: str) -> Sheet:
    """Findings and incidents from warn on count as failed, those of less weight are remarks. path: the run's."""
    items = [incident_item(one, path) for one in found.incidents]
    items += [finding_item(one, path, cures=found.prescription) for one in found.findings]
    if not any(item.status == "failed" for item in items):
        items.append(Item("rules", "RULES", tr("rules"), "passed", tr("nothing at warn or above"), Severity.NONE))
    if found.not_applicable:
        items.append(unjudged(found))
    return Sheet("klinic diagnose", path, tuple(items), found.notes)


def finding_item(finding: Finding, path: str, fails: Severity = Severity.WARN, cures: Sequence[Override] = ()) -> Item:
    """A finding; failed from a severity on."""
    shown = tr("; ").join(evidence_words(one) for one in telling(finding.evidence, 1))
    held = tr("Held {}: {}.", when(finding), shown) if shown else tr("Held {}.", when(finding))
    message = tr("{} {}", sentence(finding.message), held)
    status, severity = _status(finding.severity, fails), finding.severity
    return Item("finding", finding.id, finding.name, status, message, severity, Spot(path), _cure(finding, cures))


def _cure(finding: Finding, cures: Sequence[Override]) -> str:
    """What the prescription writes against this finding first."""
    return " ".join(one.override for one in cures if one.id == finding.id and one.rank == 1)


def incident_item(incident: Incident, path: str, fails: Severity = Severity.WARN) -> Item:
    """An incident at its line; failed from a severity on."""
    message, spot = sentence(incident.message), Spot(path, incident.line)
    status = _status(incident.severity, fails)
    return Item("incident", incident.id, incident.name, status, message, incident.severity, spot, incident.fix)


def _status(severity: Severity, fails: Severity) -> Status:
    return "failed" if severity >= fails else "remark"


def unjudged(found: Diagnosis) -> Item:
    """The rules that could not judge this run, with what is missing for the most of them."""
    groups: dict[str, list[str]] = {}
    for one in found.not_applicable:
        groups.setdefault(_missing(one.missing), []).append(one.name)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    words = [tr("{}: {}", why, f"{', '.join(names[:6])}{', ...' if len(names) > 6 else ''}") for why, names in ordered]
    more = tr("; and {}", count(len(words) - REASONS, "other reason")) if len(words) > REASONS else ""
    total = tr("{} not applicable", count(len(found.not_applicable), "rule"))
    return Item("rules", "RULES", total, "skipped", tr("; ").join(words[:REASONS]) + more, Severity.NONE)


def _missing(why: str) -> str:
    """What a rule lacks, in a few words: conditions on the config are many and long."""
    return tr("not this config") if why.startswith("judged only where") else shortened(lacking(translated(why)), 60)
