"""Keys that verl renamed, moved or stopped reading, and the spelling that an older verl wants."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig.releases import existed, release_of, releases
from klinic.diagnostics.verlconfig.table import known, needs_plus, plain
from klinic.diagnostics.yamlfiles.yamlmemory import parsed

Effect = Literal["error", "ignored", "deprecated", "fails"]


@dataclass(frozen=True)
class Renamed:
    """An old key. new: its successor in 0.9.1, None where there is none. since: release of the change.

    effect: what 0.9.1 does with the old spelling: error (Hydra refuses it), ignored (accepted, read by nobody),
    deprecated (works, with a warning), fails (accepted, the run stops later). note: what else to know.
    """

    old: str
    new: str | None
    since: str
    effect: Effect
    note: str = ""

    def __str__(self) -> str:
        becomes = (
            tr("is {} since verl {}", self.new, self.since) if self.new else tr("is gone since verl {}", self.since)
        )
        return f"{self.old} {becomes}" + (tr(": {}", tr(self.note)) if self.note else "")


@cache
def entries() -> tuple[Renamed, ...]:
    """All entries of `renamed.yaml` as written, patterns included."""
    text = Path(__file__).with_name("renamed.yaml").read_bytes()
    return tuple(Renamed(**row) for row in parsed(text))


def renamed(key: str) -> Renamed | None:
    """What became of a key, None where it is no old one."""
    name = plain(key)
    for entry in entries():
        rest = _rest(entry.old, name)
        if rest is not None:
            new = _joined(entry.new, rest)
            return Renamed(name, new if new is None or _exists(new) else None, entry.since, entry.effect, entry.note)
    return None


def for_version(key: str, version: str) -> str | None:
    """The spelling of a 0.9.1 key in an older verl; the key itself where the version is unknown or has it.

    None where that release had nothing of the kind.
    """
    name = plain(key)
    release = release_of(version)
    if release is None or existed(name, release) or (release == releases()[-1] and (known(name) or needs_plus(name))):
        return name
    for entry in entries():
        rest = _rest(entry.new, name) if entry.new else None
        old = None if rest is None else _joined(entry.old, rest)
        if old is not None and existed(old, release):
            return old
    return None


def _rest(pattern: str | None, name: str) -> str | None:
    """What follows the pattern's fixed part: "" for an exact match, None where it does not match."""
    if pattern is None:
        return None
    if not pattern.endswith(".*"):
        return "" if pattern == name else None
    head = pattern[:-1]
    return name[len(head) :] if name.startswith(head) and len(name) > len(head) else None


def _joined(pattern: str | None, rest: str) -> str | None:
    return pattern[:-1] + rest if pattern and pattern.endswith(".*") else pattern


def _exists(key: str) -> bool:
    return known(key)
