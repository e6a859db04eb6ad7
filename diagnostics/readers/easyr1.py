"""EasyR1's console logger: `Step 3`, then the metrics as a YAML tree, a group a branch.

The form is that of `verl/utils/logger/logger.py` of hiyouga/EasyR1, whose floats have three decimals at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from klinic.diagnostics.readers.base import Format, shows
from klinic.diagnostics.readers.text.blocks import BlockSession
from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.readers.text.values import number
from klinic.diagnostics.run.events import Event

_STEP = re.compile(r"Step (\d{1,12})")
_LEAF = re.compile(r"( +)([\w.@+-]+): (\.nan|-?\.inf|[-+\d.eE]+)")
_BRANCH = re.compile(r"( *)([\w.@+-]+):")
_SPECIAL = {".nan": "nan", ".inf": "inf", "-.inf": "-inf"}
_GROUPS = rb"actor|critic|reward|response_length|prompt_length|global_seqlen|perf|timing_s|timing_per_token_ms|val"
_SIGN = rb"(?:^|[\n) ])Step \d+\s*\n[^\n]{0,80}?\b(?:" + _GROUPS + rb"):\s*\n[^\n]{0,80}?  [\w.@+-]+: [-.\d]"


class EasyR1Session(BlockSession):
    """A tree ends with the first line of the same process that is none of its own."""

    framework = "easyr1"
    unbroken = True

    def __init__(self) -> None:
        super().__init__()
        self._path: list[tuple[int, str]] = []
        self._source = ""

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """The line of a step, a branch, a leaf, or None."""
        if self._open and frame.source != self._source:
            return None
        return super().rows(frame)

    def left(self, frame: Frame) -> list[Event]:
        """Only what is no branch either ends the tree."""
        return [] if self._branch(frame.text) else super().left(frame)

    def begins(self, frame: Frame) -> int | None:
        """The step that a line consists of."""
        found = _STEP.fullmatch(frame.text)
        if not found:
            return None
        self._path, self._source = [], frame.source
        return int(found[1])

    def items(self, frame: Frame) -> Mapping[str, str]:
        """A leaf, by its whole path."""
        leaf = _LEAF.fullmatch(frame.text)
        text = _SPECIAL.get(leaf[3], leaf[3]) if leaf else ""
        if leaf is None or number(text) is None:
            return {}
        return {"/".join([*self._above(len(leaf[1])), leaf[2]]): text}

    def _branch(self, text: str) -> bool:
        found = _BRANCH.fullmatch(text)
        if found:
            self._above(len(found[1]))
            self._path.append((len(found[1]), found[2]))
        return bool(found)

    def _above(self, depth: int) -> list[str]:
        """The branches above this indentation; deeper ones have ended."""
        self._path = [(place, name) for place, name in self._path if place < depth]
        return [name for _, name in self._path]


READER = Format(
    "easyr1",
    "EasyR1's console logger: a step, then its metrics as a YAML tree",
    sniff=shows(_SIGN, b"Step "),
    open=lambda _: EasyR1Session(),
)
