"""The report for a person at a terminal: verdict, vital signs, findings by root cause, what to change."""

from __future__ import annotations

from collections.abc import Sequence

from klinic.diagnostics.engine.causes import consequences
from klinic.diagnostics.engine.model import Finding, Incident, Override, Severity, Vital
from klinic.diagnostics.language import padded, tr
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.layout import Page, clean
from klinic.diagnostics.report.phrases import (
    doubts,
    evidence_words,
    lacking,
    sentence,
    shortened,
    source_words,
    telling,
    when,
)
from klinic.diagnostics.report.translated import translated_case
from klinic.diagnostics.report.uncured import uncured
from klinic.diagnostics.report.words import bounds, count, number, plain, sparkline

REASONS = 6  # groups of rules that were not judged
NAMES = 8  # names shown of one such group
MANY = 24  # names of which none is shown: some of them would tell no more than their count
ARROWS = {"rising": "↗", "falling": "↘", "flat": "→", "unknown": " "}


def render(judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> str:
    """The report of every run, one after the other; colour only where asked, wrapped at `width` columns."""
    return f"\n{'=' * min(width, 80)}\n".join(_one(translated_case(case), color, width) for case in judged)


def _one(case: Judged, color: bool, width: int) -> str:
    page = Page(color=color, width=width)
    _verdict(page, case)
    _vitals(page, case.diagnosis.vitals)
    _incidents(page, case)
    _findings(page, case.diagnosis.findings)
    _prescription(page, case.diagnosis.prescription)
    _uncured(page, case)
    _remarks(page, case)
    _not_judged(page, case)
    _notes(page, case.diagnosis.notes)
    return page.render()


def _verdict(page: Page, case: Judged) -> None:
    found = case.diagnosis
    verdict, path = page.style(tr(found.verdict), found.verdict), clean(case.run.source.path)
    page.line(tr("{}, health {} of 100: {}", verdict, found.health, path))
    page.text(found.story)
    page.text(source_words(case.run), kind="dim")


def _vitals(page: Page, vitals: Sequence[Vital]) -> None:
    if not any(vital.value is not None for vital in vitals):
        return
    page.heading(tr("Vital signs (the whole run from left to right)"))
    for vital in (vital for vital in vitals if vital.value is not None or vital.status != "unknown"):
        page.line(_vital_row(page, vital))
        if vital.note:
            page.text(vital.note, 10, kind="dim")
    if unlogged := [vital.title for vital in vitals if vital.value is None and vital.status == "unknown"]:
        page.text(tr("not logged: {}", tr(", ").join(unlogged)), 2, 4, kind="dim")


def _vital_row(page: Page, vital: Vital) -> str:
    status = page.style(padded(tr(vital.status), 7), vital.status)
    spark = sparkline(vital.spark, 16) if len(vital.spark) > 1 else ""
    level = padded(bounds(vital.low, vital.high) or tr("no level yet"), 15)
    reading = f"{number(vital.value):>9} {ARROWS[vital.trend]} {level}"
    return f"  {status} {padded(vital.title, 12)}{reading} {spark:<16} {vital.unit}"


def _incidents(page: Page, case: Judged) -> None:
    loud = [incident for incident in case.diagnosis.incidents if incident.severity > Severity.INFO]
    if loud:
        page.heading(tr("Incidents"))
    for incident in loud:
        _incident(page, incident, case.run.source.path)


def _incident(page: Page, incident: Incident, path: str) -> None:
    page.labelled(tr(str(incident.severity)), str(incident.severity), _place(incident, path))
    page.text(sentence(incident.message), 9)
    if incident.text:
        page.text(f"> {shortened(clean(incident.text), 240)}", 9, 11, kind="dim")
    page.text(tr("Cause: {}", sentence(incident.cause)), 9)
    page.text(tr("Fix: {}", sentence(incident.fix)), 9)


def _place(incident: Incident, path: str) -> str:
    where = f"{clean(path)}:{incident.line}" if incident.line else clean(path)
    times = tr(", {} times", incident.count) if incident.count > 1 else ""
    return tr("{}, {}", f"{incident.name} ({incident.id})", f"{where}{times}")


def _findings(page: Page, findings: Sequence[Finding]) -> None:
    loud = [root for root in _roots(findings) if _matters(root, findings)]
    if loud:
        page.heading(tr("Findings (indented: what follows from the one above)"))
    for root in loud:
        _finding(page, root)
        for follower in consequences(root, findings):
            _follower(page, follower)


def _remarks(page: Page, case: Judged) -> None:
    """What is information only: findings that are quiet by now, and incidents of no weight."""
    findings = case.diagnosis.findings
    roots = [root for root in _roots(findings) if not _matters(root, findings)]
    quiet = [item for root in roots for item in (root, *consequences(root, findings))]
    small = [incident for incident in case.diagnosis.incidents if incident.severity <= Severity.INFO]
    if quiet or small:
        page.heading(tr("Seen, no reason to act"))
    for finding in quiet:
        title = tr("{}, {}", f"{finding.name} ({finding.id})", tr("{}: {}", when(finding), finding.message))
        page.labelled(tr("info"), "info", title)
    for incident in small:
        said = tr("{}: {}", _place(incident, case.run.source.path), sentence(incident.message))
        page.labelled(tr("info"), "info", tr("{} {}", said, tr("Fix: {}", incident.fix)))


def _roots(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.root_cause is None]


def _matters(root: Finding, findings: Sequence[Finding]) -> bool:
    return any(f.severity > Severity.INFO for f in (root, *consequences(root, findings)))


def _finding(page: Page, finding: Finding) -> None:
    title = tr("{} ({}), {}, {} confidence", finding.name, finding.id, when(finding), tr(finding.confidence))
    page.labelled(tr(str(finding.severity)), str(finding.severity), title)
    page.text(sentence(finding.message), 9)
    for evidence in telling(finding.evidence):
        page.text(f"- {evidence_words(evidence)}", 9, 11)
    page.text(finding.why, 9)
    for doubt in doubts(finding):
        page.text(doubt, 9, kind="dim")


def _follower(page: Page, finding: Finding) -> None:
    title = tr("{}, {}", f"{finding.name} ({finding.id})", when(finding))
    page.labelled(tr(str(finding.severity)), str(finding.severity), title, indent=5)
    page.text(sentence(finding.message), 12)
    for evidence in telling(finding.evidence, 1):
        page.text(f"- {evidence_words(evidence)}", 12, 14)


def _prescription(page: Page, prescription: Sequence[Override]) -> None:
    first = [override for override in prescription if override.rank == 1]
    later = [override for override in prescription if override.rank > 1]
    if first:
        page.heading(tr("Prescription"))
        for override in first:
            _override(page, override)
        page.text(tr("To paste after the launch command:"), 2)
        page.line("  " + page.style(" ".join(override.override for override in first), "paste"))
    if later:
        page.heading(tr("If that does not help, in this order"))
        for override in later:
            page.text(tr("{} (for {}: {})", override.override, override.name, override.because), 2, 6)


def _uncured(page: Page, case: Judged) -> None:
    told = uncured(case)
    if told:
        page.heading(tr("Prescription"))
        for one in told:
            page.text(one, 2)


def _override(page: Page, override: Override) -> None:
    page.line(f"  {override.key}  {plain(override.old)} -> {_new(override)}")
    page.text(tr("For {}: {}", override.name, override.because), 6)
    if override.effect:
        page.text(tr("Expect: {}", override.effect), 6)
    if override.side_effects:
        page.text(tr("Price: {}", override.side_effects), 6)
    if override.checked:
        page.text(tr("Check: {}", override.checked), 6, kind="dim")


def _new(override: Override) -> str:
    return tr("removed") if override.override.startswith("~") else plain(override.new)


def _not_judged(page: Page, case: Judged) -> None:
    groups: dict[str, list[str]] = {}
    for item in case.diagnosis.not_applicable:
        groups.setdefault(lacking(item.missing), []).append(item.name)
    if groups:
        page.heading(tr("Not judged"))
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    for missing, names in ordered[:REASONS]:
        page.text(tr("{}: {}", shortened(missing), _some(names)), 2, 4, kind="dim")
    if rest := sum(len(names) for _, names in ordered[REASONS:]):
        page.text(tr("and {} for other reasons (--format json lists all)", count(rest, "rule")), 2, 4, kind="dim")


def _some(names: Sequence[str]) -> str:
    if len(names) > MANY:
        return count(len(names), "rule")
    if len(names) <= NAMES:
        return tr(", ").join(names)
    return tr("{} and {} more", tr(", ").join(names[: NAMES - 1]), len(names) - NAMES + 1)


def _notes(page: Page, notes: Sequence[str]) -> None:
    if notes:
        page.heading(tr("Notes"))
    for note in notes:
        page.text(f"- {note}", 2, 4)
