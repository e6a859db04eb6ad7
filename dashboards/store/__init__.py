"""Which runs there are and how they stand: read by one thread, handed out as values that nobody changes."""

from klinic.dashboards.store.entry import Entry
from klinic.dashboards.store.shelf import Shelf

__all__ = ["Entry", "Shelf"]
