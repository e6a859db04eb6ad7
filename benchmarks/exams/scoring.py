"""Marks against the key: found, root named, onset, advice, false alarms; and the tables that a page shows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from .marking import Mark, Said

ELSEWHERE = {  # ends of verl's keys -> the same setting in TRL, OpenRLHF and slime
    "optim.lr": ("learning_rate", "lr"),
    "ppo_epochs": ("max_epochs", "num_iterations"),
    "kl_loss_coef": ("beta", "init_kl_coef"),
    "clip_ratio_high": ("epsilon_high",),
    "rollout.n": ("num_generations", "n_samples_per_prompt"),
    "max_response_length": ("max_completion_length", "generate_max_len", "rollout_max_response_len"),
    "clip_grad": ("max_grad_norm", "max_norm", "grad_clip"),
}


@dataclass(frozen=True)
class Answer:
    """What became of one fault of one item. level: of the best right finding, 0 where there is none; off: steps."""

    fault: str
    item: str
    asked: int
    level: int
    root: bool
    off: int | None
    advised: bool
    sane: bool
    instead: str
    peer: bool | None

    @property
    def found(self) -> bool:
        """Whether it was named at the level asked for."""
        return self.level >= self.asked


@cache
def key(file: str = "key.yaml") -> dict[str, dict[str, Any]]:
    """The right answers of a paper, by fault."""
    right: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / file).read_text("utf-8"))
    return right


def answers(marks: Iterable[Mark]) -> Iterator[Answer]:
    """One for each fault of each sick item."""
    for mark in marks:
        for fault, window in zip(mark.about["faults"], mark.about["onsets"], strict=True):
            yield _answer(mark, fault, window)


def _answer(mark: Mark, fault: str, window: tuple[int, int]) -> Answer:
    right = key(mark.about.get("key", "key.yaml"))[fault]
    asked = 1 if right.get("level") == "info" else 2
    named = [finding for finding in mark.said if finding.name in right["found"]]
    hits = [finding for finding in named if finding.level >= asked]
    advice = [line for line in mark.advice if line[0] in right["found"]]
    instead = next((finding.name for finding in mark.alarms if finding.root), "-")
    peer = None if mark.peer is None else bool(set(mark.peer) & set(right.get("peer", ())))
    return Answer(
        fault,
        mark.name,
        asked,
        max((finding.level for finding in named), default=0),
        any(finding.root for finding in hits),
        _off(hits, window),
        bool(advice),
        any(_cures(right, *line[1:]) for line in advice),
        instead,
        peer,
    )


def _off(hits: list[Said], window: tuple[int, int]) -> int | None:
    """Steps between the first right finding and the window in which it should begin, 0 inside."""
    if not hits:
        return None
    first = min(finding.first for finding in hits)
    return max(window[0] - first, 0) or max(first - window[1], 0)


def _cures(right: dict[str, Any], name: str, old: Any, new: Any) -> bool:
    def among(ends: str) -> bool:
        return any(name.endswith((end, *ELSEWHERE.get(end, ()))) for end in right.get(ends, ()))

    if among("any"):
        return True
    known = all(isinstance(value, int | float) for value in (old, new))
    return (among("up") and (not known or new > old)) or (among("down") and (not known or new < old))


def alarms(marks: Iterable[Mark]) -> list[Mark]:
    """Healthy items with an alarm on some prefix or at the end."""
    return [mark for mark in marks if not mark.about["faults"] and (mark.early or mark.alarms)]


def summary(marks: list[Mark]) -> Iterator[str]:
    """The figures, as a Markdown table."""
    single = [answer for answer in answers(marks) if "+" not in answer.item]
    double = [answer for answer in answers(marks) if "+" in answer.item]
    calm = [mark for mark in marks if not mark.about["faults"]]
    early = [mark for mark in marks if mark.about["faults"] and mark.early]
    yield "| measure | figure |"
    yield "|---|---:|"
    for name, group in (("single faults", single), ("faults of a pair", double)):
        found = [answer for answer in group if answer.found]
        yield f"| {name}: found at the level asked for | {len(found)}/{len(group)} |"
        yield f"| {name}: named at any level | {sum(answer.level > 0 for answer in group)}/{len(group)} |"
        yield f"| {name}: named as a root cause | {sum(answer.root for answer in group)}/{len(group)} |"
        offs = [answer.off for answer in found if answer.off is not None]
        yield f"| {name}: onset off, median steps | {median(offs) if offs else '-'} |"
        yield f"| {name}: onset within 5 steps | {sum(off <= 5 for off in offs)}/{len(offs)} |"
        advised = [answer for answer in found if answer.advised]
        yield f"| {name}: advice that cures, of those with advice | {sum(a.sane for a in advised)}/{len(advised)} |"
        peers = [answer.peer for answer in group if answer.peer is not None]
        if peers:
            yield f"| {name}: found by rl-doctor at warning | {sum(peers)}/{len(peers)} |"
    yield f"| sick runs: an alarm before the fault | {len(early)}/{len(single) + len(double) // 2} |"
    yield f"| healthy runs: an alarm on some prefix | {len(alarms(calm))}/{len(calm)} |"
    if any(mark.peer for mark in calm):
        peers = sum(bool(mark.peer) for mark in calm)
        yield f"| healthy runs: an alarm of rl-doctor at the end | {peers}/{len(calm)} |"


def calibration(marks: list[Mark]) -> Iterator[str]:
    """How often a root cause at warn or above is right, by the confidence that it states."""
    yield "| confidence | root causes | right | on healthy runs |"
    yield "|---|---:|---:|---:|"
    sure: dict[str, list[tuple[bool, bool]]] = {word: [] for word in ("high", "medium", "low", "")}
    for mark in marks:
        names = {
            name for fault in mark.about["faults"] for name in key(mark.about.get("key", "key.yaml"))[fault]["found"]
        }
        for said in mark.alarms:
            if said.root:
                sure.setdefault(said.confidence, []).append((said.name in names, not mark.about["faults"]))
    for word, seen in sure.items():
        good, calm = sum(one for one, _ in seen), sum(one for _, one in seen)
        yield f"| {word or 'incident'} | {len(seen)} | {good} | {calm} |"


def by_fault(marks: list[Mark]) -> Iterator[str]:
    """A line a fault: the confusion table."""
    yield "| fault | items | found | root | onset off | named as the root instead | rl-doctor |"
    yield "|---|---:|---:|---:|---|---|---:|"
    said = [answer for answer in answers(marks) if "+" not in answer.item]
    for fault in dict.fromkeys(answer.fault for answer in said):
        group = [answer for answer in said if answer.fault == fault]
        offs = ", ".join(str(answer.off) for answer in group if answer.found)
        instead = ", ".join(sorted({answer.instead for answer in group if not (answer.found and answer.root)}))
        peer = "" if group[0].peer is None else sum(bool(answer.peer) for answer in group)
        found, root = sum(answer.found for answer in group), sum(answer.root for answer in group)
        yield f"| {fault} | {len(group)} | {found} | {root} | {offs} | {instead} | {peer} |"


def misses(marks: list[Mark]) -> Iterator[str]:
    """Every miss, wrong root, odd advice, early and false alarm, a line each."""
    about = {mark.name: mark for mark in marks}
    for answer in answers(marks):
        mark = about[answer.item]
        if not (answer.found and answer.root and (answer.sane or not answer.advised)):
            kind = "missed" if not answer.found else "not a root" if not answer.root else "odd advice"
            where = f"{mark.about['carrier']}, {mark.about['steps']} steps, {mark.about['dialect']}"
            named = [(finding.name, finding.level, finding.first) for finding in mark.said]
            yield f"{kind}: {answer.fault} of {answer.item} ({where}, from {mark.about['onsets']}); {named}"
    for mark in marks:
        if mark.early or (not mark.about["faults"] and mark.alarms):
            where = f"{mark.about['carrier']}, {mark.about['steps']} steps, {mark.about['dialect']}"
            yield f"false alarm: {mark.name} ({where}); {mark.early} {[finding.name for finding in mark.alarms]}"
