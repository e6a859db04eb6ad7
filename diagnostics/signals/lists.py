"""Signals over a list of metrics: any_of and all_of. A metric joins the list at the row where it first appears."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from klinic.diagnostics.signals.block import Block, Mask
from klinic.diagnostics.signals.evaluate import Evaluator
from klinic.diagnostics.signals.node import NONE_NEW, ONE_NEW, SPARSE, Node
from klinic.diagnostics.signals.operators import kleene
from klinic.diagnostics.signals.registry import Names, Template, signal
from klinic.diagnostics.signals.stream import Stream


class Members:
    """Evaluates one template for each metric of a list, each with an evaluator of its own."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self._nodes: dict[str, Node] = {}
        self.evaluators: dict[str, Evaluator] = {}

    def stream(self, name: str, block: Block) -> Stream:
        """The template's stream for a metric; one met for the first time catches up from where its memory begins."""
        if name not in self._nodes:
            self._nodes[name] = self.template.bind(name)
            evaluator = self.evaluators[name] = Evaluator([self._nodes[name]])
            first = 0 if evaluator.lasting else block.begins
            if first < block.first:
                evaluator.advanced(Block(block.run, first, block.first, block.facts))
        self.evaluators[name].advanced(block)
        return self.evaluators[name].stream(self._nodes[name])

    def fork(self) -> Members:
        """Members that go their own way from here."""
        other = Members(self.template)
        other._nodes = dict(self._nodes)
        other.evaluators = {name: evaluator.fork() for name, evaluator in self.evaluators.items()}
        return other

    def drop(self, name: str) -> None:
        """Forget a metric that no row will be taken from any more."""
        self._nodes.pop(name, None)
        self.evaluators.pop(name, None)

    def started(self, name: str) -> bool:
        """Whether the metric has been evaluated before: it must be advanced at every block from then on."""
        return name in self._nodes


class OverList(Node):
    """any_of or all_of, three-valued, over the metrics that have appeared so far."""

    kind = "truth"

    def __init__(self, word: str, names: Names, template: Template) -> None:
        if template.kind != "truth":
            raise ValueError(f"{word} wants a comparison with `it`, such as it > 0")
        listed = names.fixed or (names.pattern,)
        bound = [template.bind(name) for name in listed]
        super().__init__(f"{word}({list(listed)!r}, {template.key})", rank=max(node.rank for node in bound))
        self.metrics = frozenset().union(*(node.metrics for node in bound))
        self.word, self.names, self.template = word, names, template

    def start(self) -> tuple[Members, set[str]]:
        """No member yet."""
        return Members(self.template), set()

    def fork(self, state: tuple[Members, set[str]]) -> tuple[Members, set[str]]:
        """Both are changed in place."""
        return state[0].fork(), set(state[1])

    def members(self, state: tuple[Members, set[str]]) -> Mapping[str, Evaluator]:
        """The evaluators by metric; in the list's order; each knows the template bound to its metric."""
        found = state[0].evaluators
        return {name: found[name] for name in self.names.fixed or sorted(found) if name in found}

    def advance(self, block: Block, args: Sequence[Stream], state: Any) -> tuple[Stream, Any]:
        """Join the members' truth values; a member that has not appeared yet has no say."""
        if block.height == 1:
            return self._one(block, *state), state
        members, seen = state
        neutral = float(self.word == "all_of")
        verdict: Any = neutral
        fresh, anybody = np.zeros(block.height, np.bool_), np.zeros(block.height, np.bool_)
        for name in self._listed(block):
            appeared = self._appeared(name, block, seen)
            if not appeared.any() and not members.started(name):
                continue
            stream = members.stream(name, block)
            said = np.where(appeared, stream.array(block.height), neutral)
            verdict = kleene("and" if neutral else "or", verdict, said)
            anybody = anybody | appeared
            fresh = fresh | (stream.known(block.height) & appeared)
        return Stream(np.where(anybody, verdict, np.nan), fresh if self.rank == SPARSE else None), state

    def _one(self, block: Block, members: Members, seen: set[str]) -> Stream:
        """The same over a single row."""
        verdict: Any = self.word == "all_of"
        fresh = anybody = False
        for name in self._listed(block):
            appeared = bool(self._appeared(name, block, seen)[0])
            if not appeared and not members.started(name):
                continue
            stream = members.stream(name, block)
            if appeared:
                number = stream.number
                said = None if math.isnan(number) else number == 1
                verdict = kleene("and" if self.word == "all_of" else "or", verdict, said)
                anybody, fresh = True, fresh or stream.is_known
        return Stream(verdict if anybody else None, (ONE_NEW if fresh else NONE_NEW) if self.rank == SPARSE else None)

    def _listed(self, block: Block) -> Sequence[str]:
        if self.names.fixed:
            return self.names.fixed
        return _matching(block.run.metrics, self.names.pattern)

    @staticmethod
    def _appeared(name: str, block: Block, seen: set[str]) -> Mask:
        if name in seen:
            return ONE_NEW if block.height == 1 else np.ones(block.height, np.bool_)
        appeared = np.logical_or.accumulate(block.seen(name))
        if appeared.any():
            seen.add(name)
        return appeared


@lru_cache(maxsize=512)
def _matching(metrics: tuple[str, ...], pattern: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in metrics if fnmatch.fnmatchcase(name, pattern)))


@signal
def any_of(names: Names, p: Template) -> Node:
    """P holds for one of the metrics; in P the metric is called `it`."""
    return OverList("any_of", names, p)


@signal
def all_of(names: Names, p: Template) -> Node:
    """P holds for all of the metrics; in P the metric is called `it`."""
    return OverList("all_of", names, p)
