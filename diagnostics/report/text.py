"""The report for a person at a terminal: verdict, vital signs, findings by root cause, what to change."""

from __future__ import annotations

from collections.abc import Sequence

from klinic.diagnostics.engine.causes import consequences
from klinic.diagnostics.engine.model import Finding, Incident, Override, Severity, Vital
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.layout import Page, clean
from klinic.diagnostics.report.phrases import evidence_words, lacking, sentence, shortened, source_words, telling, when
from klinic.diagnostics.report.words import bounds, count, number, plain, sparkline

REASONS = 6  # groups of rules that were not judged
NAMES = 8  # names shown of one such group
ARROWS = {"rising": "↗", "falling": "↘", "flat": "→", "unknown": " "}


def render(judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> str:
    """The report of every run, one after the other; colour only where asked, wrapped at `width` columns."""
    return f"\n{'=' * min(width, 80)}\n".join(_one(case, color, width) for case in judged)


def _one(case: Judged, color: bool, width: int) -> str:
    page = Page(color=color, width=width)
    _verdict(page, case)
    _vitals(page, case.diagnosis.vitals)
    _incidents(page, case)
    _findings(page, case.diagnosis.findings)
    _prescription(page, case.diagnosis.prescription)
    _remarks(page, case)
    _not_judged(page, case)
    _notes(page, case.diagnosis.notes)
    return page.render()


def _verdict(page: Page, case: Judged) -> None:
    found = case.diagnosis
    page.line(
        f"{page.style(found.verdict, found.verdict)}, health {found.health} of 100: {clean(case.run.source.path)}"
    )
    page.text(found.story)
    page.text(source_words(case.run), kind="dim")


def _vitals(page: Page, vitals: Sequence[Vital]) -> None:
    if not any(vital.value is not None for vital in vitals):
        return
    page.heading("Vital signs (the whole run from left to right)")
    for vital in (vital for vital in vitals if vital.value is not None or vital.status != "unknown"):
        page.line(_vital_row(page, vital))
        if vital.note:
            page.text(vital.note, 10, kind="dim")
    if unlogged := [vital.title for vital in vitals if vital.value is None and vital.status == "unknown"]:
        page.text(f"not logged: {', '.join(unlogged)}", 2, 4, kind="dim")


def _vital_row(page: Page, vital: Vital) -> str:
    status = page.style(f"{vital.status:<7}", vital.status)
    spark = sparkline(vital.spark, 16) if len(vital.spark) > 1 else ""
    reading = f"{number(vital.value):>9} {ARROWS[vital.trend]} {bounds(vital.low, vital.high) or 'no level yet':<15}"
    return f"  {status} {vital.title:<12}{reading} {spark:<16} {vital.unit}"


def _incidents(page: Page, case: Judged) -> None:
    loud = [incident for incident in case.diagnosis.incidents if incident.severity > Severity.INFO]
    if loud:
        page.heading("Incidents")
    for incident in loud:
        _incident(page, incident, case.run.source.path)


def _incident(page: Page, incident: Incident, path: str) -> None:
    page.labelled(str(incident.severity), str(incident.severity), _place(incident, path))
    page.text(sentence(incident.message), 9)
    if incident.text:
        page.text(f"> {shortened(clean(incident.text), 240)}", 9, 11, kind="dim")
    page.text(f"Cause: {sentence(incident.cause)}", 9)
    page.text(f"Fix: {sentence(incident.fix)}", 9)


def _place(incident: Incident, path: str) -> str:
    where = f"{clean(path)}:{incident.line}" if incident.line else clean(path)
    times = f", {incident.count} times" if incident.count > 1 else ""
    return f"{incident.name} ({incident.id}), {where}{times}"


def _findings(page: Page, findings: Sequence[Finding]) -> None:
    loud = [root for root in _roots(findings) if _matters(root, findings)]
    if loud:
        page.heading("Findings (indented: what follows from the one above)")
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
        page.heading("Seen, no reason to act")
    for finding in quiet:
        title = f"{finding.name} ({finding.id}), {when(finding)}: {finding.message}"
        page.labelled("info", "info", title)
    for incident in small:
        title = f"{_place(incident, case.run.source.path)}: {incident.message}. Fix: {incident.fix}"
        page.labelled("info", "info", title)


def _roots(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.root_cause is None]


def _matters(root: Finding, findings: Sequence[Finding]) -> bool:
    return any(f.severity > Severity.INFO for f in (root, *consequences(root, findings)))


def _finding(page: Page, finding: Finding) -> None:
    title = f"{finding.name} ({finding.id}), {when(finding)}, {finding.confidence} confidence"
    page.labelled(str(finding.severity), str(finding.severity), title)
    page.text(sentence(finding.message), 9)
    for evidence in telling(finding.evidence):
        page.text(f"- {evidence_words(evidence)}", 9, 11)
    page.text(finding.why, 9)


def _follower(page: Page, finding: Finding) -> None:
    title = f"{finding.name} ({finding.id}), {when(finding)}"
    page.labelled(str(finding.severity), str(finding.severity), title, indent=5)
    page.text(sentence(finding.message), 12)
    for evidence in telling(finding.evidence, 1):
        page.text(f"- {evidence_words(evidence)}", 12, 14)


def _prescription(page: Page, prescription: Sequence[Override]) -> None:
    first = [override for override in prescription if override.rank == 1]
    later = [override for override in prescription if override.rank > 1]
    if first:
        page.heading("Prescription")
        for override in first:
            _override(page, override)
        page.text("To paste after the launch command:", 2)
        page.line("  " + page.style(" ".join(override.override for override in first), "paste"))
    if later:
        page.heading("If that does not help, in this order")
        for override in later:
            page.text(f"{override.override} (for {override.name}: {override.because})", 2, 6)


def _override(page: Page, override: Override) -> None:
    page.line(f"  {override.key}  {plain(override.old)} -> {_new(override)}")
    page.text(f"For {override.name}: {override.because}", 6)
    if override.effect:
        page.text(f"Expect: {override.effect}", 6)
    if override.side_effects:
        page.text(f"Price: {override.side_effects}", 6)
    if override.checked:
        page.text(f"Check: {override.checked}", 6, kind="dim")


def _new(override: Override) -> str:
    return "removed" if override.override.startswith("~") else plain(override.new)


def _not_judged(page: Page, case: Judged) -> None:
    groups: dict[str, list[str]] = {}
    for item in case.diagnosis.not_applicable:
        groups.setdefault(lacking(item.missing), []).append(item.name)
    if groups:
        page.heading("Not judged")
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    for missing, names in ordered[:REASONS]:
        page.text(f"{shortened(missing)}: {_some(names)}", 2, 4, kind="dim")
    if rest := sum(len(names) for _, names in ordered[REASONS:]):
        page.text(f"and {count(rest, 'rule')} for other reasons (--format json lists all)", 2, 4, kind="dim")


def _some(names: Sequence[str]) -> str:
    return (
        ", ".join(names)
        if len(names) <= NAMES
        else f"{', '.join(names[: NAMES - 1])} and {len(names) - NAMES + 1} more"
    )


def _notes(page: Page, notes: Sequence[str]) -> None:
    if notes:
        page.heading("Notes")
    for note in notes:
        page.text(f"- {note}", 2, 4)
