"""Answers of the model on the quick way: what a log quotes is passed over where no metric line can stand in it.

The slow way waits from `[prompt]` to `[ground_truth]` of the same process (`answers`): a metric line in between may be
the model's. So a `[prompt]` that comes over and over is a line to look at all the same, and with it those up to the end
of the answer, unless that end comes before the next metric line and before the next `[prompt]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from klinic.diagnostics.readers.text.frames import Frames
from klinic.diagnostics.readers.verl.answers import BEGINS, ENDS

if TYPE_CHECKING:
    from klinic.diagnostics.readers.verl.compiledpieces import NativePiece
    from klinic.diagnostics.readers.verl.pieces import Piece

Kinds = dict[bytes, int]  # kinds of lines that are passed over, each with its place among all of them


class Quoted:
    """Which kinds of lines that are passed over begin or end an answer, by the process that prints them."""

    def __init__(self) -> None:
        self._begin: dict[str, Kinds] = {}
        self._end: dict[str, Kinds] = {}

    def learn(self, kind: bytes, raw: bytes, must_hold: bytes, place: int) -> bytes | None:
        """A kind of lines may be passed over from now on; raw: one of them.

        What a line must hold to be of the kind: the process too, if it begins or ends an answer. None where it may not
        be passed over at all.
        """
        frames = Frames.of(raw, 1)
        for word, kinds in ((BEGINS, self._begin), (ENDS, self._end)):
            if any(frame.text.startswith(word) for frame in frames):
                stop = raw.find(word.encode()) + len(word)
                if len(frames) > 1 or stop < len(word) or must_hold:
                    return None
                kinds.setdefault(frames[0].source, {})[kind] = place
                return raw[:stop]
        return must_hold

    def unclosed(self, piece: Piece | NativePiece) -> list[int]:
        """Places of the lines that begin an answer of which it is not sure that it holds no metric line."""
        if not self._begin:
            return []
        begun = {source: piece.places(kinds) for source, kinds in self._begin.items()}
        every = np.sort(np.concatenate([*begun.values()]))
        noises = np.asarray(piece.noises, np.int64)
        found: list[int] = []
        for source, places in begun.items():
            until = _next(piece.places(self._end.get(source, {})), places, piece.count)
            metrics = np.searchsorted(noises, until, "right") - np.searchsorted(noises, places, "right")
            found += places[(until >= _next(every, places, piece.count)) | (metrics > 0)].tolist()
        return found


def _next(places: np.ndarray, after: np.ndarray, end: int) -> np.ndarray:
    """The first of some places behind each of others, `end` where there is none."""
    return np.append(places, end)[np.searchsorted(places, after, "right")]
