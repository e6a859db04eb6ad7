"""A stretch of a console log cut into metric lines and others, and what a metric line looks like."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from klinic.diagnostics.readers._text import Bar, Frame
from klinic.diagnostics.run.events import Line

WINDOW = 600  # bytes of a metric line that are looked at
_STEP = re.compile(rb"step:(\d{1,12}) - ")
_DECIMALS = re.compile(rb":-?\d+\.(\d+)(?: - |$)")


@dataclass(frozen=True, slots=True)
class Metrics:
    """A line that looks like a metric line: what stands before and after `step:`, and how many lines are before it."""

    before: bytes
    body: bytes
    noise: int

    @property
    def raw(self) -> bytes:
        """The whole line."""
        return self.before + b"step:" + self.body


def cut(text: bytes) -> tuple[list[Metrics], bytes]:
    """Whole lines parted: those that look like metric lines, and all others as they stood."""
    found: list[Metrics] = []
    rest: list[bytes] = []
    at = done = noise = 0
    while (at := text.find(b"step:", at)) >= 0:
        if not _STEP.match(text, at):
            at += 5
            continue
        start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
        rest.append(text[done:start])
        noise += text.count(b"\n", done, start)
        found.append(Metrics(text[start:at], text[at + 5 : end], noise))
        at = done = end + 1
    rest.append(text[done:])
    return found, b"".join(rest)


@dataclass
class Piece:
    """Lines being read: metric lines, the other lines, these without digits; `at` and `done` of them are read."""

    metrics: list[Metrics]
    lines: list[bytes]
    kinds: list[bytes]
    first: int
    at: int = 0
    done: int = 0
    looked: set[int] = field(default_factory=set)
    noises: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.noises = [line.noise for line in self.metrics]

    def number(self, at: int) -> int:
        """Number in the log of a line without metrics."""
        return self.first + at + bisect_right(self.noises, at)

    def number_of(self, done: int) -> int:
        """Number in the log of a metric line."""
        return self.first + self.noises[done] + done


def as_json(body: bytes) -> bytes:
    """`12 - a/b:0.5 - c:np.float64(nan)` as a JSON line of the file logger; no JSON where it is anything else."""
    if b"np.float" in body:
        body = body.replace(b"np.float64(", b"").replace(b"np.float32(", b"").replace(b")", b"")
    if b":nan" in body:
        body = (body + b" - ").replace(b":nan - ", b":null - ")[:-3]
    return b'{"step":' + body.replace(b":", b'":').replace(b" - ", b',"data":{"', 1).replace(b" - ", b',"') + b"}}"


def not_padded(body: bytes) -> bool:
    """Whether it is sure that not all values but the last are printed with the same number of decimals, padded."""
    end = body.rfind(b" - ")
    start = body[: min(end, WINDOW)]
    if b"np." in start or b"e-" in start:
        return True
    decimals = _DECIMALS.findall(start)
    unpadded = end <= WINDOW and not any(digits.endswith(b"0") for digits in decimals)
    return unpadded or len(set(map(len, decimals))) > 1


def line_of(frame: Frame, bar: Bar | None) -> list[Line]:
    """The text of a frame without its progress bar, where there is any."""
    text = bar.rest if bar else frame.text
    return [Line(text, frame.line, frame.source)] if text.strip() else []
