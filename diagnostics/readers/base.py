"""What every reader is: a file of this folder with a `READER`, the `Format` that it knows, and nothing else.

A reader is fed bytes in pieces of any size and reports events; feeding a file in one piece or byte by byte
gives the same events. It never raises on bad input: what it cannot read it reports as a `Note`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from klinic.diagnostics.run.events import Event


@dataclass(frozen=True)
class Head:
    """The beginning of a source: up to 256 KiB, decompressed, and its path where there is one."""

    data: bytes
    path: Path | None = None
    complete: bool = False  # `data` is the whole source


class Session(Protocol):
    """One source being read. `copy.deepcopy` of it works at any time (no generators, no open files inside):
    a live view closes a copy to see what the source would give if it ended here.

    A session may have a method `foresee(data)` more: it is told of bytes before they are fed, in order and as the same
    objects where nothing comes between; threads may work ahead, and nothing of what it reports may depend on it.
    """

    def feed(self, data: bytes) -> Iterable[Event]:
        """Take the next bytes; report what is certain by now."""

    def close(self) -> Iterable[Event]:
        """The source has ended: report what was held back."""


class Reader(Protocol):
    """What reads one format; a `Format`, or what a package of your own gives in its place."""

    @property
    def name(self) -> str:
        """As `klinic readers` shows it."""

    @property
    def summary(self) -> str:
        """The format in one line."""

    def sniff(self, head: Head, /) -> float:
        """How sure it is that this is its format: 0 (no) to 1 (certain), from content, never from the name."""

    def open(self, head: Head, /) -> Session:
        """Start reading a source from its first byte."""


@dataclass(frozen=True)
class Format:
    """A reader as its file states it; see `Reader`. binary: text is followed live in whole lines, this is not."""

    name: str
    summary: str
    sniff: Callable[[Head], float]
    open: Callable[[Head], Session]
    binary: bool = False


def shows(pattern: bytes, word: bytes = b"") -> Callable[[Head], float]:
    """To sniff by: quite sure (0.9) of a format where its beginning holds one such text. word: stands in each of them;
    it is found much sooner than the pattern."""
    return lambda head: 0.9 if word in head.data and re.search(pattern, head.data) else 0.0
