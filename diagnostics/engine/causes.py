"""Group findings under their root causes, by what cards say they explain and by the order of events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from klinic.diagnostics.engine.model import Finding, Severity

# Cards look back over different windows, so onsets of one event can differ by a few steps either way.
SLACK = 5


@dataclass(frozen=True)
class Relations:
    """What one card says of others, by name: those that it causes and those that it is mistaken for.

    late: steps by which it sees a thing late, being judged at evaluations only.
    """

    explains: tuple[str, ...] = ()
    look_alikes: tuple[str, ...] = ()
    late: int = 0


def with_causes(findings: Sequence[Finding], relations: Mapping[str, Relations]) -> tuple[Finding, ...]:
    """The findings with `root_cause` set: id of the root that explains each, None for a root.

    relations: card's name -> Relations. A finding explains another if its card lists it and it set in no later than
    that became a warning (`SLACK` steps allowed, and those between evaluations where its card is judged at these); of
    two look-alikes the one that set in first explains the other. A root that has eased and still holds keeps the weight
    of what it explains, up to its own worst: its consequences would lead in its place.
    Order is kept.
    """
    parents = {finding.id: _explainer(finding, findings, relations) for finding in _by_onset(findings)}
    for name in parents:  # in order of events: the earliest finding of a circle becomes its root
        if _closes(name, parents):
            parents[name] = None
    rooted = [replace(finding, root_cause=_root(finding.id, parents)) for finding in findings]
    return tuple(_weighed(finding, rooted) if finding.root_cause is None else finding for finding in rooted)


def _weighed(root: Finding, findings: Sequence[Finding]) -> Finding:
    """A root with the weight of what it explains, as far as it has had such a weight and still holds."""
    return replace(root, severity=max(root.severity, min(weight_of(root, findings), _standing(root))))


def _standing(finding: Finding) -> Severity:
    """What a finding can answer for: its worst while it holds, what is left of it after that."""
    return finding.severity if finding.closed else max(finding.severity, finding.peak)


def _by_onset(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: (f.attempt, f.first_step, -f.peak, f.id))


def _explainer(finding: Finding, findings: Sequence[Finding], relations: Mapping[str, Relations]) -> str | None:
    able = [other for other in findings if other.id != finding.id and _explains(other, finding, relations)]
    return min(able, key=_earliest_heaviest).id if able else None


def _earliest_heaviest(finding: Finding) -> tuple[int, int, int, str]:
    return (-min(_standing(finding), Severity.WARN), finding.first_step, -finding.peak, finding.id)


def _explains(cause: Finding, effect: Finding, relations: Mapping[str, Relations]) -> bool:
    if cause.attempt > effect.attempt or _standing(cause) < min(effect.severity, Severity.WARN):
        return False
    says, heard = relations.get(cause.name, Relations()), relations.get(effect.name, Relations())
    lead = effect.first_step - cause.first_step
    if effect.name in says.explains:
        mutual = cause.name in heard.explains
        return _first_of_two(cause, effect) if mutual else _in_time(cause, effect, says.late)
    alike = effect.name in says.look_alikes or cause.name in heard.look_alikes
    return alike and cause.name not in heard.explains and lead > SLACK


def _in_time(cause: Finding, effect: Finding, late: int) -> bool:
    """Whether the cause had set in when the effect became what it is: what was a remark before proves nothing."""
    return cause.first_step <= max(effect.first_step, effect.warned or effect.first_step) + SLACK + late


def _first_of_two(cause: Finding, effect: Finding) -> bool:
    """Two cards that explain each other: the earlier one, the heavier one at a tie."""
    return (cause.first_step, -cause.peak, cause.id) < (effect.first_step, -effect.peak, effect.id)


def _closes(start: str, parents: Mapping[str, str | None]) -> bool:
    return start in _ancestors(start, parents)


def _ancestors(start: str, parents: Mapping[str, str | None]) -> list[str]:
    """Explainers from the nearest to the last; a circle is walked once."""
    found: list[str] = []
    at = parents.get(start)
    while at is not None and at not in found:
        found.append(at)
        at = parents.get(at)
    return found


def _root(start: str, parents: Mapping[str, str | None]) -> str | None:
    return next(iter(reversed(_ancestors(start, parents))), None)


def worst_root(findings: Sequence[Finding]) -> Finding | None:
    """The root to treat first: heaviest, then the one that explains most, then the earliest."""
    roots = [finding for finding in findings if finding.root_cause is None]
    if not roots:
        return None
    return min(roots, key=lambda f: (-weight_of(f, findings), -len(consequences(f, findings)), f.first_step, f.id))


def weight_of(root: Finding, findings: Sequence[Finding]) -> Severity:
    """The heaviest severity in a root's group."""
    return max([root.severity, *(finding.severity for finding in consequences(root, findings))])


def consequences(root: Finding, findings: Sequence[Finding]) -> list[Finding]:
    """What a root explains, in order of events."""
    return _by_onset(finding for finding in findings if finding.root_cause == root.id)
