"""slime's metrics: a dict of `train/...` or `rollout/...` numbers, on one line behind `step 3:` or over many lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.text.frames import Frame, head_frames
from klinic.diagnostics.readers.text.rows import RowSession
from klinic.diagnostics.readers.text.values import number
from klinic.diagnostics.run.events import Event, Note, Row

MAX_LINES = 2000
_PAIR = re.compile(
    r"['\"]((?:train|rollout|perf|eval|passrate)/[^'\"{}]+)['\"]:\s*([^,{}\[\]'\"()]*(?:\([^()]*\))?)\s*(?=[,}]|$)"
)
_INLINE = re.compile(r"\b(?:step|rollout|perf|eval) (\d{1,12}): \{['\"](?:train|rollout|perf|eval)/")
_OPEN = re.compile(r"(?:.*\b(?:step|rollout|perf|eval) (?P<step>\d{1,12}): )?\{$")
_STEPS = ("train/step", "rollout/step", "eval/step")
# One quantity that two processes print, each from its own count.
_TWINS = {
    "rollout/response_lengths": "rollout/response_len/mean",
    "rollout/truncated": "rollout/truncated_ratio",
    "rollout/entropy": "train/entropy_loss",
    "train/entropy_loss": "rollout/entropy",
}


def pairs(text: str) -> dict[str, float]:
    """Key -> number of every pair in the text that has one."""
    return {key: value for key, raw in _PAIR.findall(text) if (value := number(raw)) is not None}


class PrettyDictSession(RowSession):
    """Collects the lines of a dict until its brace closes."""

    framework = "slime"

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, float] | None = None
        self._step: int | None = None
        self._line = 0
        self._lines = 0
        self._seen: tuple[int | None, set[str]] = (None, set())

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """A dict or a part of one, or None."""
        text = frame.text.strip()
        if self._values is not None:
            return self._goes_on(text, frame)
        inline = _INLINE.search(text) if "{" in text else None
        if inline:
            return self._row(pairs(text), int(inline[1]), frame.line)
        opening = _OPEN.fullmatch(text[-300:]) if text[-1:] == "{" else None
        if opening:
            self._values, self._line, self._lines = {}, frame.line, 0
            self._step = int(opening["step"]) if opening["step"] else None
            return ()
        return None

    def _goes_on(self, text: str, frame: Frame) -> Iterable[Event] | None:
        found = pairs(text)
        self._lines += 1
        if found and self._values is not None and self._lines < MAX_LINES:
            self._values.update(found)
        if text.endswith(("}", "},")) or not found:
            events = self._end(closed=text.startswith("}") or bool(found))
            return events if found or text[:1] == "}" else [*events, *(self.rows(frame) or self._other(frame))]
        return ()

    def _end(self, *, closed: bool) -> list[Event]:
        values, self._values = self._values, None
        if not values:
            return []
        cut = [] if closed else [Note(f"line {self._line}: the dict that starts here has no end")]
        return [*cut, *self._row(values, self._step, self._line)]

    def _row(self, values: dict[str, float], step: int | None, line: int) -> list[Event]:
        written = next((values[key] for key in _STEPS if key in values), None)
        if written is not None and abs(written) < 1e12:
            step = int(written)
        return self.told(Row(self._apart(values, step), step, line=line))

    def _apart(self, values: dict[str, float], step: int | None) -> dict[str, float]:
        """The second of two twins in a step gets a name of its own: a step says a metric once."""
        if step != self._seen[0]:
            self._seen = step, set()
        seen = self._seen[1]
        named = {f"{key} (again)" if _TWINS.get(key) in seen else key: value for key, value in values.items()}
        seen.update(values)
        return named

    def ended(self) -> Iterable[Event]:
        """A dict whose end is missing."""
        return self._end(closed=False)


def _sniff(head: Head) -> float:
    """Sure with a dict of three such numbers in Python's spelling."""
    if b"train/" not in head.data and b"rollout/" not in head.data:
        return 0.0
    found = 0
    for frame in head_frames(head.data):
        text = frame.text.strip()
        if "{'" in text and _INLINE.search(text):
            return 0.85
        found = found + 1 if text[:1] == "'" and pairs(text) else 0
        if found == 3:
            return 0.8
    return 0.0


READER = Format(
    "slime",
    "slime's metric dicts, on one line or pretty-printed over many",
    sniff=_sniff,
    open=lambda _: PrettyDictSession(),
)
