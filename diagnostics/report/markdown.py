"""The report for an issue, a pull request or a wiki: GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from klinic.diagnostics.engine.causes import consequences
from klinic.diagnostics.engine.model import Finding, Incident, Override, Vital
from klinic.diagnostics.language import tr
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.layout import clean
from klinic.diagnostics.report.phrases import evidence_words, lacking, sentence, source_words, telling, when
from klinic.diagnostics.report.translated import translated_case
from klinic.diagnostics.report.uncured import uncured
from klinic.diagnostics.report.words import bounds, number, plain, sparkline


def render(judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> str:
    """A section a run; `color` and `width` change nothing."""
    return "\n".join("\n".join(_one(translated_case(case))).strip() + "\n" for case in judged)


def _one(case: Judged) -> Iterator[str]:
    found = case.diagnosis
    yield tr("## {}: {}, health {} of 100", _text(case.run.source.path), tr(found.verdict), found.health)
    yield f"\n{_text(found.story)}\n\n{_text(source_words(case.run))}"
    yield from _vitals(found.vitals)
    yield from _incidents(found.incidents, case.run.source.path)
    yield from _findings(found.findings)
    yield from _prescription(found.prescription)
    told = uncured(case)
    if told:
        yield f"\n### {tr('Prescription')}\n"
        yield " ".join(map(_text, told))
    yield from _small_print(case)


def _text(text: str) -> str:
    """Text of a log or a card where Markdown is read: nothing in it acts as markup."""
    escaped = clean(text)
    for character in "\\`*_[]<>|#":
        escaped = escaped.replace(character, "\\" + character)
    return escaped


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence}{clean(text)}{fence}"


def _vitals(vitals: Sequence[Vital]) -> Iterator[str]:
    measured = [vital for vital in vitals if vital.value is not None]
    if not measured:
        return
    yield f"\n### {tr('Vital signs')}\n"
    yield tr("| sign | status | value | healthy | trend | whole run |") + "\n|---|---|---:|---|---|---|"
    for vital in measured:
        cells = [
            f"{vital.title} ({_code(vital.metric)})",
            tr(vital.status),
            f"{number(vital.value)} {vital.unit}",
            bounds(vital.low, vital.high) or tr("any"),
            tr(vital.trend),
            sparkline(vital.spark),
        ]
        yield f"| {' | '.join(cells)} |"


def _incidents(incidents: Sequence[Incident], path: str) -> Iterator[str]:
    if incidents:
        yield f"\n### {tr('Incidents')}\n"
    for incident in incidents:
        place = f"{path}:{incident.line}" if incident.line else path
        name = f"**{tr(str(incident.severity))}** {_code(incident.name)} ({incident.id})"
        yield tr("- {} at {}: {}", name, _code(place), _text(incident.message))
        yield tr("  - cause: {}", _text(incident.cause))
        yield tr("  - fix: {}", _text(incident.fix))


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    roots = [finding for finding in findings if finding.root_cause is None]
    if roots:
        yield f"\n### {tr('Findings')}\n"
    for root in roots:
        yield f"- {_finding(root)}"
        yield from (f"  - {_text(evidence_words(evidence))}" for evidence in telling(root.evidence))
        if root.why:
            yield tr("  - why: {}", _text(root.why))
        yield from (tr("  - led to {}", _finding(follower)) for follower in consequences(root, findings))


def _finding(finding: Finding) -> str:
    title = f"**{tr(str(finding.severity))}** {_code(finding.name)} ({finding.id})"
    return tr("{}, {}", title, tr("{}: {}", when(finding), _text(sentence(finding.message))))


def _prescription(prescription: Sequence[Override]) -> Iterator[str]:
    first = [override for override in prescription if override.rank == 1]
    later = [override for override in prescription if override.rank > 1]
    if first:
        yield f"\n### {tr('Prescription')}\n\n```sh"
        yield from (override.override for override in first)
        yield "```\n"
        for override in first:
            change = _text(tr("{} to {}", plain(override.old), plain(override.new)))
            name = _code(override.name)
            yield tr("- {}, {}, for {}: {}", _code(override.key), change, name, _text(override.because))
    if later:
        yield f"\n{tr('If that does not help, in this order')}{tr(':')}\n"
        yield from (tr("1. {}: {}", _code(override.override), _text(override.because)) for override in later)


def _small_print(case: Judged) -> Iterator[str]:
    found = case.diagnosis
    if found.not_applicable:
        yield f"\n<details><summary>{tr('Not judged')}</summary>\n"
        yield from (
            tr("- {}: {}", f"{_code(item.name)} ({item.id})", _text(lacking(item.missing)))
            for item in found.not_applicable
        )
        yield "\n</details>"
    if found.notes:
        yield f"\n{tr('Notes')}\n"
        yield from (f"- {_text(note)}" for note in found.notes)
