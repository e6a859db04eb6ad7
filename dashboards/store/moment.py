"""How all runs stood at one moment, as one value: who takes it twice may be given two moments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from klinic.dashboards.store.entry import Entry

MAX_GONE = 1000


@dataclass(frozen=True)
class Moment:
    """entries: the runs by their id. gone: (stamp, id) of runs that are no longer there. stamp: of the last change."""

    entries: Mapping[str, Entry] = field(default_factory=lambda: MappingProxyType({}))
    gone: tuple[tuple[int, str], ...] = ()
    stamp: int = 0

    def put(self, entry: Entry) -> Moment:
        """The moment after an entry came or changed."""
        stamp = self.stamp + 1
        stamped = replace(entry, stamp=stamp, born=entry.born or stamp)
        return replace(self, entries=MappingProxyType({**self.entries, entry.id: stamped}), stamp=stamp)

    def drop(self, names: Collection[str]) -> Moment:
        """The moment after these runs went."""
        stamp = self.stamp + 1
        kept = {name: entry for name, entry in self.entries.items() if name not in names}
        gone = (*self.gone, *((stamp, name) for name in names))[-MAX_GONE:]
        return Moment(MappingProxyType(kept), gone, stamp)
