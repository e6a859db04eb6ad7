"""One sentence that tells what happened, in order of events."""

from __future__ import annotations

import re
from collections.abc import Sequence

from klinic.diagnostics.engine.causes import consequences, worst_root
from klinic.diagnostics.engine.model import Finding, Incident, Severity, Vital
from klinic.diagnostics.engine.planned import STEP
from klinic.diagnostics.language import tr

SHOWN = 3
NAMES = ("verl", "vLLM")
_KEY = re.compile(r"\w[_./=]\w")


def story(
    findings: Sequence[Finding],
    incidents: Sequence[Incident],
    steps: tuple[int, int] | None,
    vitals: Sequence[Vital] = (),
) -> str:
    """The root to treat first, what followed from it, what else needs a look, and the worst incident.

    Where no rule asks for anything: the vital signs that are far outside their healthy range all the same.
    """
    loud = [finding for finding in findings if finding.severity > Severity.INFO]
    crash = max((i for i in incidents if i.severity > Severity.INFO), key=lambda i: i.severity, default=None)
    parts = [_crash(crash)] if crash else []
    if loud:
        worse = crash is not None and max(finding.severity for finding in loud) > crash.severity
        parts.insert(0 if worse else len(parts), _chain(findings))
    return " ".join(parts) or _quiet(len(findings) + len(incidents), steps, vitals)


def _crash(incident: Incident) -> str:
    place = tr(" (line {})", incident.line) if incident.line else ""
    return f"{capital(incident.message.rstrip('.。'))}{place}{tr('.')}"


def _chain(findings: Sequence[Finding]) -> str:
    root = worst_root(findings)
    if root is None:
        return ""
    followers = [f for f in consequences(root, findings) if f.severity > Severity.INFO]
    text = tr("{}, {}", capital(root.message.rstrip(".。")), _since(root))
    if followers:
        shown = sorted(followers, key=lambda f: -f.severity)[:SHOWN]
        early = [f for f in shown if f.first_step < root.first_step]
        later = [f for f in followers if f in shown and f not in early]
        text += tr("; first seen as {}", _told(early)) if early else ""
        text += tr("; then {}", _told(later, len(followers) - SHOWN)) if later else ""
    return f"{text}{tr('.')}{_others(root, findings)}"


def _told(findings: Sequence[Finding], rest: int = 0) -> str:
    return _joined([tr("{} at step {}", f.name, f.first_step) for f in findings], rest)


def _others(root: Finding, findings: Sequence[Finding]) -> str:
    """Roots beside the first one that need a look of their own."""
    names = [f.name for f in findings if f.root_cause is None and f.id != root.id and f.severity > Severity.INFO]
    return tr(" Apart from that: {}.", _joined(names[:SHOWN], len(names) - SHOWN)) if names else ""


def _since(finding: Finding) -> str:
    if finding.last_step == STEP:
        return tr("before the first step")
    if finding.first_step == finding.last_step:
        return tr("at step {}", finding.first_step)
    if not finding.closed:
        return tr("from step {} on", finding.first_step)
    return tr("in steps {} to {}", finding.first_step, finding.last_step)


def _quiet(remarks: int, steps: tuple[int, int] | None, vitals: Sequence[Vital]) -> str:
    span = tr("Nothing to judge") if steps is None else _calm(_span(*steps), vitals)
    if not remarks:
        return f"{span}{tr('.')}"
    return tr("{}; 1 remark below.", span) if remarks == 1 else tr("{}; {} remarks below.", span, remarks)


def _calm(span: str, vitals: Sequence[Vital]) -> str:
    """A sign may leave its range steps before a rule is sure of what it is: that is not `nothing`."""
    outside = [vital.title for vital in vitals if vital.status == "sick"]
    if not outside:
        return tr("Nothing needs action in {}", span)
    return tr("No rule is sure of a fault in {}, but far outside the healthy range: {}", span, _joined(outside))


def _span(first: int, last: int) -> str:
    return tr("step {}", first) if first == last else tr("steps {} to {}", first, last)


def _joined(words: Sequence[str], rest: int = 0) -> str:
    """`a`, `a and b`, `a, b and 4 more`."""
    items = [*words, tr("{} more", rest)] if rest > 0 else list(words)
    return items[0] if len(items) == 1 else tr("{} and {}", tr(", ").join(items[:-1]), items[-1])


def capital(text: str) -> str:
    """A capital at the beginning, unless the first word is a name that is written small: of a tool, a key, a metric."""
    first = text.partition(" ")[0].rstrip(".,:;")
    return text if text.startswith(NAMES) or _KEY.search(first) else text[:1].upper() + text[1:]
