"""What to change: remedies of the findings to treat, computed from the run's own config, one value a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.causes import SLACK, consequences
from klinic.diagnostics.engine.model import Finding, Override, Severity
from klinic.diagnostics.engine.remedy import Append, Drop, RemedyError, evaluate
from klinic.diagnostics.engine.settings import as_override, assumed_remark, is_verl, own_names, value_of
from klinic.diagnostics.language import current_language
from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig import Facts, check_override, facts, for_version, table
from klinic.diagnostics.verlconfig.dialects import family_of
from klinic.diagnostics.verlconfig.idle import idle
from klinic.diagnostics.verlconfig.releases import default_at
from klinic.diagnostics.verlconfig.spelling import spelt

Condition = Callable[[Card, str], bool]
Measure = Callable[[Card, str], float | None]


@dataclass(frozen=True)
class _Wanted:
    """A change that one finding's card asks for; `place` is its place among what to try for that finding's group."""

    finding: Finding
    place: int
    override: Override
    sure: bool = False

    def at(self, place: int) -> _Wanted:
        """The same at another place."""
        return replace(self, place=place, override=replace(self.override, rank=place))


@dataclass(frozen=True)
class _Case:
    """What remedies are computed from: the run, its facts, and the cards' expressions at its last row."""

    cards: Mapping[str, Card]
    run: Run
    about: Facts
    holds: Condition
    measured: Measure


def prescribe(
    findings: Sequence[Finding],
    cards: Mapping[str, Card],
    run: Run,
    holds: Condition,
    measured: Measure = lambda card, text: None,
    about: Facts | None = None,
) -> tuple[Override, ...]:
    """The overrides to try, in order: of each root finding the first remedy, then what to try if that fails.

    findings: with their root causes. cards: by id. holds: (card, expression) -> whether a remedy's `if` holds now.
    measured: (card, expression) -> its value now, None where unknown. about: the run's facts, where they are known.
    A consequence is treated only where its root's card knows no remedy at all; information is not treated. Where
    findings want different values for one key, the heavier one wins and the override says so. A key that would do
    nothing in this run is never prescribed.
    """
    case = _Case(cards, run, about or facts(run), holds, measured)
    wanted = [want for root in findings if root.root_cause is None for want in _for_group(root, findings, case)]
    ordered = sorted(
        _sure_first(wanted, cards), key=lambda want: (want.place, -want.finding.severity, want.finding.first_step)
    )
    return tuple(_one_per_key(ordered))


def _sure_first(wanted: Sequence[_Wanted], cards: Mapping[str, Card]) -> list[_Wanted]:
    """Where a setting is wrong by itself, guesses about what it may have caused wait until it is put right."""
    sure = [want.finding for want in wanted if want.sure]
    waits = (not want.sure and any(_may_follow(want.finding, wrong, cards) for wrong in sure) for want in wanted)
    return [want.at(max(want.place, 2)) if wait else want for want, wait in zip(wanted, waits, strict=True)]


def _may_follow(finding: Finding, wrong: Finding, cards: Mapping[str, Card]) -> bool:
    """Whether a root may come from another one that was seen later, or comes after one that it usually causes.

    Cards notice at different speeds: a score falls before entropy is called high, and a policy that has become random
    takes large steps in the end.
    """
    causes, caused = (cards[one.id].explains if one.id in cards else () for one in (wrong, finding))
    return finding.name in causes or (wrong.name in caused and wrong.first_step + SLACK < finding.first_step)


def _for_group(root: Finding, findings: Sequence[Finding], case: _Case) -> Iterator[_Wanted]:
    """What to try for a root and what follows from it, in order.

    A setting that is wrong by itself (a remedy that its card calls sure) is put right first, whichever finding of the
    group it belongs to; the remedies of the root come after it. In place of a root that no config cures at all stands
    what follows from it; a root whose card has remedies of which none fits this run (a reward that is always zero,
    whatever the group size) lies outside the config: treating what follows from it would change nothing.
    """
    followers = [f for f in consequences(root, findings) if f.severity > Severity.INFO]
    group = [root, *followers] if root.severity > Severity.INFO else followers
    card = case.cards.get(root.id)
    able = group[:1] if group[:1] == [root] and card and card.remedies else group
    wants = {finding.id: list(_wants(finding, case)) for finding in group}
    wishes = next((wants[finding.id] for finding in able if wants[finding.id]), [])
    sure = [want for finding in group for want in wants[finding.id] if want.sure]
    keys = {want.override.key for want in sure}
    yield from (want.at(1) for want in sure)
    others = (want for want in wishes if want.override.key not in keys)
    yield from (want.at(place) for place, want in enumerate(others, 2 if sure else 1))


def _wants(finding: Finding, case: _Case) -> Iterator[_Wanted]:
    """The finding's remedies that fit, the first one of each key, in the card's order."""
    card = case.cards.get(finding.id)
    keys: list[str] = []
    for remedy in card.remedies if card else ():
        fits = card is not None and _fits(remedy, card, case)
        override = _override(remedy, finding, card, case) if card and fits else None
        if override is not None and override.key not in keys:
            keys.append(override.key)
            yield _Wanted(finding, len(keys), replace(override, rank=len(keys)), remedy.get("sure") is True)


def _fits(remedy: Mapping[str, Any], card: Card, case: _Case) -> bool:
    """Written for this framework, or for all that have the setting; at work in this run, and its `if` holds."""
    framework = case.run.source.framework
    if remedy.get("framework", family_of(framework)) != family_of(framework):
        return False
    if "framework" not in remedy and not is_verl(case.run) and not own_names(case.run, str(remedy["key"])):
        return False
    if idle(str(remedy["key"]), case.about):
        return False
    condition = remedy.get("if")
    return condition is None or case.holds(card, str(condition))


def _override(remedy: Mapping[str, Any], finding: Finding, card: Card, case: _Case) -> Override | None:
    """None where the new value cannot be computed, is the old one, or would be refused."""
    key, run = str(remedy["key"]), case.run
    spelled = for_version(key, case.about.version) if is_verl(run) else _own(run, key)
    if spelled is None:
        return None
    old = value_of(run, spelled if spelled in run.config.values else key)
    try:
        new = _new_value(remedy, old, card, case)
    except RemedyError:
        return None
    if _does_nothing(new, old, spelled, run) or (_is_verls_word(new, remedy) and not is_verl(run)):
        return None
    text, checked = _written(key, spelled, new, case)
    if checked is None:
        return None
    return Override(
        id=finding.id,
        name=finding.name,
        key=spelled,
        old=old,
        new=None if isinstance(new, Drop) else new,
        override=text,
        because=str(remedy.get("because", "")) + assumed_remark(run, key, old),
        effect=str(remedy.get("effect", "")),
        side_effects=str(remedy.get("side_effect", "")),
        checked=checked,
    )


def _does_nothing(new: Any, old: Any, key: str, run: Run) -> bool:
    return _same(new, old) or (isinstance(new, Drop) and key not in run.config.values)


def _is_verls_word(new: Any, remedy: Mapping[str, Any]) -> bool:
    """Whether a value is a word, which means nothing to others where the remedy does not name them."""
    return isinstance(new, str) and "framework" not in remedy


def _new_value(remedy: Mapping[str, Any], old: Any, card: Card, case: _Case) -> Any:
    """What the remedy makes of the old value; raises RemedyError."""
    new = evaluate(
        remedy.get("to"),
        old,
        lambda name: value_of(case.run, name),
        whole=_is_whole(str(remedy["key"])),
        signal=lambda text: case.measured(card, text),
    )
    return _appended(old, new.value) if isinstance(new, Append) else new


def _written(key: str, spelled: str, new: Any, case: _Case) -> tuple[str, str | None]:
    """The override to paste, and how it was checked; None there where it would be refused."""
    run = case.run
    text = as_override(key if is_verl(run) else spelled, new, run)
    if is_verl(run) and spelled != table.plain(key):
        if not _of_its_kind(new, default_at(spelled, case.about.version)):
            return text, None
        remark = f"spelled as verl {case.about.version} has it; since then it is {table.plain(key)}"
        return text.replace(table.plain(key), spelled, 1).lstrip("+"), remark
    return text, _check(text.partition("=")[0], new, run)


def _of_its_kind(new: Any, default: Any) -> bool:
    """Whether a value may stand under an older name: a switch that became a count does not take the count."""
    return default is None or isinstance(new, Drop) or isinstance(new, bool) == isinstance(default, bool)


def _own(run: Run, key: str) -> str:
    """The name that the run's config has for verl's key, else its framework's first; the key where it has none."""
    names = own_names(run, key)
    return next((name for name in names if name in run.config.values), names[0] if names else key)


def _check(key: str, value: Any, run: Run) -> str | None:
    """What verl would say of the override; None where it would refuse it."""
    if not is_verl(run):
        return f"not checked: {run.source.framework} has no key table here"
    asked = "override", current_language(), key, repr(value)
    found = run.config.worked_out.get(asked)
    if found is None:
        found = run.config.worked_out[asked] = check_override(key, value, run.config)
    return (found.message or f"accepted by verl {table.version()}") if found.ok else None


def _is_whole(key: str) -> bool:
    entry = table.entry(key)
    return entry is not None and "int" in entry.types and "float" not in entry.types


def _appended(old: Any, value: Any) -> list[Any]:
    items = old if isinstance(old, list) else [] if old is None else [old]
    return items if value in items else [*items, value]


def _same(new: Any, old: Any) -> bool:
    if isinstance(new, bool) or isinstance(old, bool):
        return new is old
    return bool(new == old)


def _one_per_key(wanted: Sequence[_Wanted]) -> Iterator[Override]:
    """The first wish for each key; where others want another value there, the reason says which and why not."""
    for want in wanted:
        same_key = [other for other in wanted if other.override.key == want.override.key]
        if same_key[0] is not want:
            continue
        rivals = [other for other in same_key[1:] if not _same(other.override.new, want.override.new)]
        yield replace(want.override, because=want.override.because + "".join(map(_rival, rivals[:2])))


def _rival(other: _Wanted) -> str:
    return f"; {other.finding.name} would set {spelt(other.override.new)}, which gives way to the heavier finding"
