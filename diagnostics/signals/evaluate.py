"""Evaluate nodes over a run: each distinct node once a block, states carried from block to block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl

from klinic.diagnostics.run import Run
from klinic.diagnostics.shallowcopy import shallow_copy
from klinic.diagnostics.signals.block import Block, Facts, PlainFacts
from klinic.diagnostics.signals.node import Elementwise, Node
from klinic.diagnostics.signals.stream import UNKNOWN, Stream, Value, joined, single


class Evaluator:
    """Evaluates a set of root nodes; equal sub-expressions (by key) are shared."""

    def __init__(self, roots: Iterable[Node]) -> None:
        self._order: list[Node] = []
        self._index: dict[str, int] = {}
        for root in roots:
            self._place(root)
        self._args = [_picking([self._index[child.key] for child in node.children]) for node in self._order]
        self._states: list[Any] = [node.start() for node in self._order]
        self._moving = [number for number, node in enumerate(self._order) if not node.still]
        self._by_row = [(number, _alone(self._order[number]), self._args[number]) for number in self._moving]
        self._still: list[Stream] = []  # of the other nodes, the same at every row
        self._still_values: list[Value] = []
        self._forking = [number for number, node in enumerate(self._order) if type(node).fork is not Node.fork]
        self._streams: list[Stream] = []
        self._parts: list[dict[str, dict[str, Evaluator]]] = []  # of a block of several trainings, `_heard` of each

    def _place(self, node: Node) -> None:
        if node.key in self._index:
            return
        for child in node.children:
            self._place(child)
        self._index[node.key] = len(self._order)
        self._order.append(node)

    @property
    def lasting(self) -> bool:
        """Whether a node remembers across trainings that begin from scratch."""
        return any(node.lasting for node in self._order)

    def advance(self, block: Block) -> None:
        """Evaluate the block, which must follow the last one without a gap; a training from scratch begins anew."""
        with np.errstate(all="ignore"):  # what is not finite becomes unknown
            self.advanced(block)

    def advanced(self, block: Block) -> None:
        """The same within another evaluator's `advance`."""
        parts = [block] if block.height == 1 else block.trainings
        if len(parts) == 1:
            self._streams, self._parts = self._training(block), []
        else:
            streams = []
            self._parts = []
            for part in parts:
                streams.append(self._training(part))
                self._parts.append(self._heard())
            heights = [part.height for part in parts]
            self._streams = [joined(each, heights) for each in zip(*streams, strict=True)]

    def _training(self, block: Block) -> list[Stream]:
        if block.anew:
            fresh = zip(self._order, self._states, strict=True)
            self._states = [state if node.lasting else node.start() for node, state in fresh]
        return self._row(block) if block.height == 1 else self._evaluated(block)

    def _evaluated(self, block: Block) -> list[Stream]:
        streams, states, order, args = self._begun(block), self._states, self._order, self._args
        for number in self._moving:
            streams[number], states[number] = order[number].advance(block, args[number](streams), states[number])
        return streams

    def _row(self, block: Block) -> list[Stream]:
        """The same over a single row, where every value is a scalar."""
        streams, states = self._begun(block), self._states
        values = self._still_values.copy()
        for number, one, args in self._by_row:
            if one is not None:
                value = values[number] = one(*args(values))
                streams[number] = Stream(value)
                continue
            stream, states[number] = self._order[number].advance(block, args(streams), states[number])
            stream = streams[number] = single(stream) if isinstance(stream.values, np.ndarray) else stream
            values[number] = stream.values
        return streams

    def _begun(self, block: Block) -> list[Stream]:
        """The streams of the nodes that stand still, with room for the others."""
        if not self._still:
            streams = [UNKNOWN] * len(self._order)
            for number, node in enumerate(self._order):
                if node.still:
                    streams[number] = node.advance(block, self._args[number](streams), None)[0]
            self._still, self._still_values = streams, [stream.values for stream in streams]
        return self._still.copy()

    def rest(self) -> None:
        """Let go of the last block's results."""
        self._streams, self._parts = [], []

    def fork(self) -> Evaluator:
        """An evaluator that stands where this one does and goes its own way from here."""
        other = shallow_copy(self)
        other._states = self._states.copy()
        for number in self._forking:
            other._states[number] = self._order[number].fork(self._states[number])
        return other

    def stream(self, node: Node) -> Stream:
        """Result of a node over the last block."""
        return self._streams[self._index[node.key]]

    def members(self, node: Node, training: int) -> Mapping[str, Evaluator]:
        """Of any_of and all_of, each metric's own evaluator, as it was after one of the last block's trainings."""
        if self._parts:
            return self._parts[training].get(node.key, {})
        return node.members(self._states[self._index[node.key]])

    def _heard(self) -> dict[str, dict[str, Evaluator]]:
        """By node, each metric's evaluator with its results of now: those of the next training take their place."""
        found = {}
        for node, state in zip(self._order, self._states, strict=True):
            if members := node.members(state):
                found[node.key] = {name: shallow_copy(one) for name, one in members.items()}
        return found

    def __len__(self) -> int:
        return len(self._order)


def _picking(places: list[int]) -> Callable[[list[Any]], Sequence[Any]]:
    """Picks what stands at these places."""
    if len(places) == 1:
        return itemgetter(slice(places[0], places[0] + 1))
    return itemgetter(*places) if places else (lambda streams: ())


def _alone(node: Node) -> Callable[..., Value] | None:
    """What gives a node's value over a single row of its operands' values; None where it takes more than that."""
    return node.one if isinstance(node, Elementwise) and not node.sparse else None


def evaluate(node: Node, run: Run, facts: Facts | None = None) -> pl.Series:
    """Values of one expression at each row of a run: Float64 or Boolean, null where unknown."""
    evaluator = Evaluator([node])
    height = run.frame.height
    evaluator.advance(Block(run, 0, height, facts or PlainFacts()))
    dtype = {"truth": pl.Boolean, "text": pl.String}.get(node.kind, pl.Float64)
    return evaluator.stream(node).series(height, dtype)
