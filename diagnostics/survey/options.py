"""How runs are judged, as plain values: another process can be told them, and they can be hashed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import klinic.diagnostics.engine.library as library
from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.diagnose import chosen_cards, signs_of

if TYPE_CHECKING:
    from klinic.diagnostics.report.sheet import Item
    from klinic.diagnostics.run import Run

PACKAGE = Path(__file__).resolve().parents[1]


class Asking(Protocol):
    """What is asked of a run besides: plain values, whose `repr` says all of them."""

    def told(self, run: Run) -> Mapping[str, tuple[Item, ...]]:
        """What came of it, by language."""


@dataclass(frozen=True)
class JudgeOptions:
    """What `klinic.diagnostics.engine.diagnose.diagnose` is given besides the run.

    folders: with cards of the user's own; edition: a hash of them as they were when this was made. given: settings
    that the log may lack; config: the file that gives them. asked: what is asked of a run besides, None for nothing.
    """

    profile: str = "default"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    steps: tuple[int | None, int | None] | None = None
    folders: tuple[str, ...] = ()
    edition: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    config: str = ""
    asked: Asking | None = None

    def __post_init__(self) -> None:
        told = hashlib.blake2b(digest_size=16)
        for folder in self.folders:
            _add(told, Path(folder))
        object.__setattr__(self, "edition", told.hexdigest())

    def cards(self) -> tuple[Card, ...] | None:
        """The cards to judge by, None for the installed ones; loaded once a process. Raises CardError, OSError."""
        return _cards(self.folders, self.edition) if self.folders else None

    def fingerprint(self) -> str:
        """A hash of all that a judgement rests on besides the run: klinic, its cards, the user's files and options."""
        changes = sorted((rule, sorted(change.items())) for rule, change in self.overrides.items())
        options = (self.profile, self.select, self.ignore, changes, self.steps, self.folders, self.edition, self.config)
        said = (_installed(), options, sorted(self.given.items()), self.asked)
        told = hashlib.blake2b(repr(said).encode("utf-8", "replace"))
        _add(told, Path(self.profile))
        return told.hexdigest()

    def check(self) -> None:
        """Raises CardError or OSError where the options fit no card or a card cannot be loaded."""
        chosen_cards(self.cards(), self.profile, self.select, self.ignore, self.overrides)
        signs_of(self.profile)


@cache
def _cards(folders: tuple[str, ...], _edition: str) -> tuple[Card, ...]:
    return library.all_cards(folders)


def _installed() -> str:
    """klinic's version and the content of its code, knowledge and cards, and of the cards of other packages."""
    told = hashlib.blake2b(version("klinic").encode(), digest_size=16)
    for folder in (PACKAGE, *library.folders()):
        _add(told, folder)
    return told.hexdigest()


def _add(told: Any, path: Path) -> None:
    """Names and bytes of a file, or of all files below a folder; of what is not there nothing."""
    for file in _files(path):
        told.update(f"\0{file}\0".encode("utf-8", "surrogateescape"))
        told.update(file.read_bytes())


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from (file for file in sorted(path.rglob("*")) if file.is_file() and "__pycache__" not in file.parts)
