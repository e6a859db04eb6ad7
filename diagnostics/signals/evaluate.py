"""Evaluate nodes over a run: each distinct node once a block, states carried from block to block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

import numpy as np
import polars as pl

from klinic.diagnostics.run import Run
from klinic.diagnostics.signals.block import Block, Facts, PlainFacts
from klinic.diagnostics.signals.node import Node
from klinic.diagnostics.signals.stream import Stream, joined, single


class Evaluator:
    """Evaluates a set of root nodes; equal sub-expressions (by key) are shared."""

    def __init__(self, roots: Iterable[Node]) -> None:
        self._order: list[Node] = []
        self._index: dict[str, int] = {}
        for root in roots:
            self._place(root)
        self._args = [[self._index[child.key] for child in node.children] for node in self._order]
        self._states: list[Any] = [node.start() for node in self._order]
        self._forking = [number for number, node in enumerate(self._order) if type(node).fork is not Node.fork]
        self._streams: list[Stream] = []

    def _place(self, node: Node) -> None:
        if node.key in self._index:
            return
        for child in node.children:
            self._place(child)
        self._index[node.key] = len(self._order)
        self._order.append(node)

    def advance(self, block: Block) -> None:
        """Evaluate the block, which must follow the last one without a gap; a training from scratch begins anew."""
        parts = block.trainings
        with np.errstate(all="ignore"):  # what is not finite becomes unknown
            streams = [self._training(part) for part in parts]
        heights = [part.height for part in parts]
        if len(parts) == 1:
            self._streams = streams[0]
        else:
            self._streams = [joined(each, heights) for each in zip(*streams, strict=True)]

    def _training(self, block: Block) -> list[Stream]:
        if block.anew:
            fresh = zip(self._order, self._states, strict=True)
            self._states = [state if node.lasting else node.start() for node, state in fresh]
        return self._evaluated(block)

    def _evaluated(self, block: Block) -> list[Stream]:
        streams: list[Stream] = []
        alone = block.height == 1
        for number, node in enumerate(self._order):
            args = [streams[index] for index in self._args[number]]
            stream, self._states[number] = node.advance(block, args, self._states[number])
            streams.append(single(stream) if alone else stream)
        return streams

    def rest(self) -> None:
        """Let go of the last block's results."""
        self._streams = []

    def fork(self) -> Evaluator:
        """An evaluator that stands where this one does and goes its own way from here."""
        other = copy(self)
        other._states = self._states.copy()
        for number in self._forking:
            other._states[number] = self._order[number].fork(self._states[number])
        return other

    def stream(self, node: Node) -> Stream:
        """Result of a node over the last block."""
        return self._streams[self._index[node.key]]

    def members(self, node: Node) -> Mapping[str, Evaluator]:
        """Of any_of and all_of, each metric's own evaluator, as the last block's last training left it."""
        return node.members(self._states[self._index[node.key]])

    def __len__(self) -> int:
        return len(self._order)


def evaluate(node: Node, run: Run, facts: Facts | None = None) -> pl.Series:
    """Values of one expression at each row of a run: Float64 or Boolean, null where unknown."""
    evaluator = Evaluator([node])
    height = run.frame.height
    evaluator.advance(Block(run, 0, height, facts or PlainFacts()))
    dtype = {"truth": pl.Boolean, "text": pl.String}.get(node.kind, pl.Float64)
    return evaluator.stream(node).series(height, dtype)
