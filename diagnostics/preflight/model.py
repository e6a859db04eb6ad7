"""What preflight reads and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.language import tr
from klinic.diagnostics.preflight.words import advised
from klinic.diagnostics.report.sheet import Item, Sheet, Spot, Status
from klinic.diagnostics.verlconfig.overrides import Override

Kind = Literal["script", "yaml", "run", "overrides"]


@dataclass(frozen=True)
class Place:
    """Where something stands: file as given, line and column from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Written:
    """An override that a person wrote: `text` with variables filled in, and its place.

    open: the variable in its value that nothing in the script sets; empty where the value is known.
    """

    override: Override
    place: Place
    open: str = ""

    @property
    def key(self) -> str:
        """The key without its mark."""
        return self.override.key


@dataclass(frozen=True)
class Exported:
    """An environment variable that a script sets."""

    name: str
    value: str
    place: Place


@dataclass(frozen=True)
class Source:
    """A launch as read: text as it stands in the file, its overrides in order, variables, and where the launch is.

    user: whether a person wrote the overrides (against a composed config, which holds every key).
    folder: where relative paths begin. roots: where files that the launch names may be looked at; anywhere where None.
    """

    path: str
    kind: Kind
    text: str = ""
    written: tuple[Written, ...] = ()
    exported: tuple[Exported, ...] = ()
    anchor: Place = field(default_factory=lambda: Place("command line"))
    user: bool = True
    folder: Path = field(default_factory=Path)
    roots: tuple[Path, ...] | None = None

    def may_look_at(self, path: Path) -> bool:
        """Whether a file or folder lies below a root, whatever links lead there."""
        return self.roots is None or any(path.resolve().is_relative_to(root.resolve()) for root in self.roots)

    @property
    def texts(self) -> list[str]:
        """The overrides whose values are known, as Hydra takes them."""
        return [one.override.text for one in self.written if not one.open]

    def place_of(self, *keys: str) -> Place:
        """Where the first of `keys` that a person wrote stands last; else where the launch stands."""
        for key in keys:
            hits = [one.place for one in self.written if one.key == key]
            if hits:
                return hits[-1]
        return self.anchor


@dataclass(frozen=True)
class Found:
    """A finding. id: a card's, or VERL for a check of verl's own, or KEY, ENV, FILE, GPU, MEM.

    stage: when verl stops or loses it, empty for a card. write: overrides that put it right, in order; `~key` takes
    one out.
    """

    id: str
    name: str
    severity: Severity
    message: str
    place: Place
    stage: str = ""
    write: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """`; write a=1 b=2`, or nothing."""
        return advised(self.write)

    def item(self) -> Item:
        """The finding as an item of a sheet."""
        spot = Spot(self.place.file, self.place.line, self.place.column)
        status: Status = "failed" if self.severity >= Severity.WARN else "remark"
        return Item("finding", self.id, self.name, status, self.message + self.advice, self.severity, spot)


@dataclass(frozen=True)
class Report:
    """Everything about one launch: findings in order of place, batch arithmetic, what the rules will see, memory."""

    source: Source
    found: tuple[Found, ...]
    values: Mapping[str, Any]
    batch: Mapping[str, Any]
    arithmetic: tuple[str, ...]
    seen: tuple[str, ...]
    memory: tuple[str, ...] = ()

    def sheet(self) -> Sheet:
        """What was found as a sheet, for the formats of CI; findings from warn on count as failed."""
        items = [one.item() for one in self.found]
        if not items:
            items.append(Item("rules", "RULES", "launch", "passed", tr("nothing found"), Severity.NONE))
        return Sheet("klinic preflight", self.source.path, tuple(items))

    @property
    def worst(self) -> Severity:
        """The highest severity found."""
        return max((one.severity for one in self.found), default=Severity.NONE)
