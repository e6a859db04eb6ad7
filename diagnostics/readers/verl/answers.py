"""What a log quotes is none of its own: answers of the model that verl prints, and rows glued to one line.

verl's reward managers print `[prompt]`, `[response]`, `[ground_truth]` and the scores of a few answers, in one go. A
model that is trained on logs, or wants to look better than it is, may answer with a metric line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from klinic.diagnostics.readers.text.frames import Frame, take_prefix

MAX_HELD, MAX_LETTERS = 2000, 1_000_000  # frames and letters of an answer; a longer one is not waited for
BEGINS, ENDS = "[prompt]", "[ground_truth]"
_GLUED = re.compile(r"(?<=[\d)])(?=(?:\([^()]{1,200}pid=\d+[^()]{0,100}\) ?)?step:\d{1,12} - [^\s:]{1,300}:)")
_BEHIND = "0123456789) "  # what a glued row, or the prefix of its process, stands behind or ends with


class Answers:
    """Waits from `[prompt]` to `[ground_truth]` of the same process; only what that closes is quoted.

    Where it did not come once, somebody else prints such prompts, and none is waited for any more.
    """

    def __init__(self) -> None:
        self._closes = True
        self._held: list[Frame] = []
        self._letters = 0

    @property
    def expected(self) -> bool:
        """Whether such a line would begin one."""
        return self._closes

    def __bool__(self) -> bool:
        """Whether an answer has begun."""
        return bool(self._held)

    def parted(self, frames: Iterable[Frame]) -> Iterator[tuple[Frame, bool]]:
        """What is sure by now, in order: frames of a metric line or none, and whether each is quoted."""
        for frame in frames:
            if self._held or (self._closes and frame.text.startswith(BEGINS)):
                yield from self._take(frame)
            else:
                yield from ((part, False) for part in apart(frame))

    def _take(self, frame: Frame) -> list[tuple[Frame, bool]]:
        if self._held and frame.source != self._held[0].source:
            return [(frame, False)]
        if self._held and frame.text.startswith(ENDS):
            return [*((held, True) for held in self._let_go()), (frame, False)]
        begins = frame.text.startswith(BEGINS)
        if self._held and (begins or self._full()):
            self._closes = False
            return [(held, False) for held in (*self._let_go(), frame)]
        self._held.append(frame)
        self._letters += len(frame.text)
        return []

    def release(self) -> list[Frame]:
        """What was waited with, if the source ends here: nothing shows that it is quoted."""
        return self._let_go()

    def _full(self) -> bool:
        return len(self._held) >= MAX_HELD or self._letters >= MAX_LETTERS

    def _let_go(self) -> list[Frame]:
        held, self._held, self._letters = self._held, [], 0
        return held


def apart(frame: Frame) -> list[Frame]:
    """The metric lines of a frame in which a lost line end, or two writers, put one behind the other."""
    if not _may_be_glued(frame.text) or not (places := [found.start() for found in _GLUED.finditer(frame.text)]):
        return [frame]
    parts = [frame.text[start:end] for start, end in zip([0, *places], [*places, len(frame.text)], strict=True)]
    frames = [replace(frame, text=parts[0], whole=True)]
    frames += [replace(frame, text=take_prefix(part)[0], fresh=False, whole=True) for part in parts[1:]]
    frames[-1] = replace(frames[-1], whole=frame.whole)
    return frames


def _may_be_glued(text: str) -> bool:
    """Whether there are two `step:`, and one stands behind a number or a prefix, as names that end so do not."""
    at = text.find("step:", 1) if text.count("step:") > 1 else -1
    while at > 0 and text[at - 1] not in _BEHIND:
        at = text.find("step:", at + 1)
    return at > 0
