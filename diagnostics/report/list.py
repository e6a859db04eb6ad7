"""A line a run, the worst first: what a folder of thousands of runs looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from klinic.diagnostics.engine.model import Diagnosis, Severity
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.layout import Page, clean
from klinic.diagnostics.report.words import count

VERDICTS = ("sick", "watch", "healthy")


def render(judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> str:
    """Verdict, health, last step, cause and path of each run; lines are not wrapped, so that tools can read them."""
    page = Page(color=color, width=width)
    ordered = sorted(judged, key=lambda case: (VERDICTS.index(case.diagnosis.verdict), case.diagnosis.health))
    causes = [_cause(case.diagnosis) for case in ordered]
    wide = max(map(len, causes), default=0)
    for case, cause in zip(ordered, causes, strict=True):
        page.line(_row(page, case, cause.ljust(wide)))
    found = Counter(str(case.diagnosis.verdict) for case in judged)
    page.line(f"{count(len(judged), 'run')}: {', '.join(f'{found[verdict]} {verdict}' for verdict in VERDICTS)}")
    return page.render()


def _row(page: Page, case: Judged, cause: str) -> str:
    verdict = case.diagnosis.verdict
    steps = case.run.steps
    last = str(steps[1]) if steps else "-"
    status = page.style(f"{verdict:<7}", verdict)
    return f"{status} {case.diagnosis.health:>3} {last:>7} {cause} {clean(case.run.source.path)}"


def _cause(found: Diagnosis) -> str:
    """The rule at the root of it, else the gravest incident; `-` where there is neither."""
    grave = [finding for finding in found.findings if finding.severity >= Severity.WARN]
    root = [finding.name for finding in grave if finding.id == found.root_cause]
    loud = [incident for incident in found.incidents if incident.severity >= Severity.WARN]
    named = [incident.name for incident in sorted(loud, key=lambda incident: -incident.severity)]
    return next(iter([*root, *named]), "-")
