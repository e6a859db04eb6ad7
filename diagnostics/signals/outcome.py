"""The outcome: what the run is for. The primary validation metric once it has values enough, else the score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.signals.block import Block, Mask
from klinic.diagnostics.signals.compile import compile_text
from klinic.diagnostics.signals.functions import coalesce
from klinic.diagnostics.signals.lists import Members
from klinic.diagnostics.signals.node import NONE_NEW, ONE_NEW, SPARSE, Kind, Node, rank_of
from klinic.diagnostics.signals.operators import logic
from klinic.diagnostics.signals.registry import Count, Template, signal
from klinic.diagnostics.signals.scope import Scope
from klinic.diagnostics.signals.stream import Stream

SCORES = ("critic/score/mean", "critic/rewards/mean")
CEILING = 0.95  # of a rate: above it there is no room left to rise
STEPS_A_VALIDATION = 5  # a window of w steps is one of w/5 validations: nobody validates much more often
LEAST = 6  # validations whose trend says something

_RISE = "0.1 * highest(best(it, {k}) - first(it, {f}), abs(best(it, {k})))"
_FELL = {
    False: f"best(it, 10) - med(it, 5) > highest(3 * noise(it), {_RISE.format(k=10, f=5)})",
    # The best of n evaluations is lucky: its lead grows with their number. Three together are surer than one.
    True: f"best(it, 1) - it > highest(3 * sqrt(1 + log(count(it))) * se(it), 3 * noise(it), {_RISE.format(k=1, f=1)})"
    " or fill(best(it, 3) - mean(it, 3) > highest(3 * sqrt(1 + log(count(it))) * se(it), 3 * noise(it)) / sqrt(3)"
    f" and best(it, 3) - mean(it, 3) > {_RISE.format(k=3, f=1)} and count(it) >= 6, False)",
}
# Standard deviation of a least squares trend over w values with noise s: s * sqrt(12 / w).
_BOUND = {
    False: "3 * sqrt(12 / {w}) * highest(noise(it), 0)",
    True: "3 * sqrt(12 / {w}) * highest(noise(it), se(it), 0)",
}


def preference(name: str) -> tuple[Any, ...]:
    """Order of validation metrics: accuracies before rewards, means before votes and bests, then by name."""
    last = name.rsplit("/", 1)[-1]
    core = name.startswith("val-core/")
    return not core, "/acc" not in name, not last.startswith("mean"), name


def is_candidate(name: str) -> bool:
    """Whether a metric may stand for the outcome at evaluations."""
    return name.startswith(("val-core/", "val/test_score/"))


@lru_cache(maxsize=512)
def candidates(metrics: tuple[str, ...]) -> tuple[str, ...]:
    """The metrics that may stand for the outcome at evaluations, the preferred one first."""
    return tuple(sorted(filter(is_candidate, metrics), key=preference))


class OfOutcome(Node):
    """A template evaluated on whatever metric is the outcome at each row.

    least: validations from which on they are it. among: what may be it, validation, the score, or both.
    """

    def __init__(self, template: Template, least: int, among: str = "both") -> None:
        super().__init__(f"outcome_of({template.key}, {least}, {among})", rank=SPARSE)
        self.among = among
        self.metrics = frozenset(["outcome()"])
        self.template, self.least = template, least
        self.kind: Kind = template.kind

    def start(self) -> tuple[Members, dict[str, int]]:
        """No values counted yet."""
        return Members(self.template), {}

    def fork(self, state: tuple[Members, dict[str, int]]) -> tuple[Members, dict[str, int]]:
        """Both are changed in place."""
        return state[0].fork(), dict(state[1])

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Take each row from the metric that is the outcome there."""
        if block.height == 1:
            return self._one(block, *state), state
        members, counts = state
        values = np.full(block.height, np.nan)
        fresh = np.zeros(block.height, np.bool_)
        for name, won in self._winners(block, counts):
            if not won.any():
                members.drop(name)
                continue
            stream = members.stream(name, block)
            values = np.where(won, stream.array(block.height), values)
            fresh = fresh | (won & stream.known(block.height))
        return Stream(values, fresh), state

    def _names(self, block: Block) -> tuple[str, ...]:
        """The metrics that may be it, the preferred one first."""
        evals = () if self.among == "score" else candidates(block.run.metrics)
        return evals if self.among == "evals" else (*evals, *SCORES)

    def _one(self, block: Block, members: Members, counts: dict[str, int]) -> Stream:
        """The same over a single row."""
        result, undecided = Stream(None, NONE_NEW), True
        for name in self._names(block):
            counts[name] = counts.get(name, 0) + (block.value(name) is not None)
            won = undecided and counts[name] >= (1 if name in SCORES else self.least)
            undecided = undecided and not won
            if won:
                stream = members.stream(name, block)
                values = None if math.isnan(stream.number) else stream.values
                result = Stream(values, ONE_NEW if stream.is_known else NONE_NEW)
            else:
                members.drop(name)
        return result

    def _winners(self, block: Block, counts: dict[str, int]) -> list[tuple[str, Mask]]:
        """(metric, rows that are its own), best candidate first; the rest falls to the score."""
        left = np.ones(block.height, np.bool_)
        winners: list[tuple[str, Mask]] = []
        for name in self._names(block):
            counted = self._counted(name, block, counts)
            eligible = counted >= (1 if name in SCORES else self.least)
            winners.append((name, left & eligible))
            left = left & ~eligible
        return winners

    @staticmethod
    def _counted(name: str, block: Block, counts: dict[str, int]) -> npt.NDArray[np.int64]:
        counted = (~np.isnan(block.column(name))).cumsum() + counts.get(name, 0)
        counts[name] = int(counted[-1]) if len(counted) else counts.get(name, 0)
        return counted


def _by_rank(texts: dict[bool, str], **numbers: float) -> Template:
    def bind(name: str) -> Node:
        text = texts[rank_of(name) == SPARSE].format(**numbers)
        return compile_text(text, Scope(it=name))

    probe = bind("it")
    return Template(f"{probe.key}", probe.kind, bind)


@signal
def outcome_of(p: Template) -> Node:
    """An expression in which `it` is the outcome; what a signal of `outcome()` is turned into."""
    return OfOutcome(p, 2)


@signal
@cache
def outcome() -> Node:
    """The primary validation metric if it has 2 values or more, else the score."""
    return OfOutcome(_by_rank({False: "it", True: "it"}), 2)


@signal
@cache
def outcome_fell() -> Node:
    """The outcome is below its best by more than noise and a tenth of its rise or level."""
    return OfOutcome(_by_rank(_FELL), 2)


def _among(form: str, w: int, among: str) -> Node:
    texts = {sparse: form.format(bound=bound, ceiling=CEILING, w="{w}") for sparse, bound in _BOUND.items()}
    return OfOutcome(_by_rank(texts, w=w), w if among == "evals" else 1, among)


def _both(form: str, w: int) -> tuple[Node, Node]:
    """A claim of the last validations, and the same of the last w values of the score."""
    return _among(form, max(LEAST, w // STEPS_A_VALIDATION), "evals"), _among(form, w, "score")


@signal
@cache
def outcome_flat(w: Count) -> Node:
    """Neither the score over w values nor the last w/5 validations, six at least, moved or are at their ceiling."""
    form = "abs(trend(it, {w})) <= {bound} and not (peak(it) <= 1 and med(it, {w}) >= {ceiling})"
    evals, score = _both(form, w)
    return coalesce(logic("and", [evals, score]), evals, score)


@signal
@cache
def outcome_rose(w: Count) -> Node:
    """The score over w values or the last w/5 validations, six at least, rose beyond noise."""
    evals, score = _both("trend(it, {w}) > {bound}", w)
    return coalesce(logic("or", [evals, score]), evals, score)
