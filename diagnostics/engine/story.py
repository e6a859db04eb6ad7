"""One sentence that tells what happened, in order of events."""

from __future__ import annotations

import re
from collections.abc import Sequence

from klinic.diagnostics.engine.causes import consequences, worst_root
from klinic.diagnostics.engine.model import Finding, Incident, Severity, Vital
from klinic.diagnostics.engine.planned import STEP
from klinic.diagnostics.language import later, tr

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
    said = tr("{}, {}", capital(clause(root)), _since(root))
    return f"{tr('; ').join([said, *sequel(root, findings)])}{tr('.')}{_others(root, findings)}"


def clause(finding: Finding) -> str:
    """What a finding says, without its full stop: part of a longer sentence."""
    return finding.message.rstrip(".。")


def sequel(root: Finding, findings: Sequence[Finding]) -> list[str]:
    """What a root explains that needs a look, the heaviest `SHOWN`, by whether it set in before, with or after it.

    Cards look back over different windows: a consequence may show some steps before its cause does.
    """
    loud = [one for one in consequences(root, findings) if one.severity > Severity.INFO]
    heaviest = sorted(loud, key=lambda one: -one.severity)[:SHOWN]
    shown = [one for one in loud if one in heaviest]
    parts = [
        (later("before it {}"), [one for one in shown if one.first_step < root.first_step]),
        (later("with it {}"), [one for one in shown if one.first_step == root.first_step]),
        (later("then {}"), [one for one in shown if one.first_step > root.first_step]),
    ]
    told = [tr(said, listed([_placed(one) for one in some])) for said, some in parts if some]
    return [*told, tr("and {} more", len(loud) - SHOWN)] if len(loud) > SHOWN else told


def beside(root: Finding, findings: Sequence[Finding]) -> str:
    """Roots beside one that need a look of their own; "" where there are none."""
    others = [one for one in findings if one.root_cause is None and one.id != root.id and one.severity > Severity.INFO]
    return listed([clause(one) for one in others[:SHOWN]], len(others) - SHOWN) if others else ""


def _placed(finding: Finding) -> str:
    """`the reward has broken down (step 52)`."""
    return clause(finding) if finding.last_step == STEP else with_step(clause(finding), finding.first_step)


def with_step(text: str, step: int) -> str:
    """A text with its step in brackets; in those that it ends with in Chinese, which stand in pairs of their own."""
    if text.endswith("）") and (start := text.rfind("（")) >= 0:
        return f"{text[:start]}{tr(' ({})', tr('{}, {}', text[start + 1 : -1], tr('step {}', step)))}"
    return text + tr(" ({})", tr("step {}", step))


def _others(root: Finding, findings: Sequence[Finding]) -> str:
    told = beside(root, findings)
    return tr(" Apart from that: {}.", told) if told else ""


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
    return tr("No rule is sure of a fault in {}, but far outside the healthy range: {}", span, listed(outside))


def _span(first: int, last: int) -> str:
    return tr("step {}", first) if first == last else tr("steps {} to {}", first, last)


def listed(words: Sequence[str], rest: int = 0) -> str:
    """`a`, `a and b`, `a, b and 4 more`."""
    items = [*words, tr("{} more", rest)] if rest > 0 else list(words)
    return items[0] if len(items) == 1 else tr("{} and {}", tr(", ").join(items[:-1]), items[-1])


def capital(text: str) -> str:
    """A capital at the beginning, unless the first word is a name that is written small: of a tool, a key, a metric."""
    first = text.partition(" ")[0].rstrip(".,:;")
    return text if text.startswith(NAMES) or _KEY.search(first) else text[:1].upper() + text[1:]
