"""What every page works with: the shelf, how the browser wants to see it, and the state in the URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from dash import dcc, html

from klinic.dashboards.figures.theme import Look
from klinic.dashboards.store import Shelf
from klinic.dashboards.views.parts import Component

TEXT_LIMIT = 2000


@dataclass(frozen=True)
class Context:
    """What a dashboard was started with."""

    shelf: Shelf
    refresh: float = 1.0

    def clock(self, name: str, times: int = 1) -> Component:
        """The page's own timer: it asks for news as often as the dashboard was told to, or so many times as rarely."""
        return dcc.Interval(id=name, interval=max(int(self.refresh * 1000), 200) * times)

    def wait(self, name: str, shown: Component) -> Component:
        """A page that is drawn anew as soon as its run (any, for "") is there, or all was looked through."""
        store = dcc.Store(id="waiting", data={"run": name, "ready": self.shelf.ready.is_set()})
        return html.Div([store, self.clock("waiting-tick"), shown])

    def arrived(self, name: str, *, ready: bool) -> bool:
        """Whether a page that waits for a run, and was drawn before or after all was looked through, is out of date."""
        entry = self.shelf.entry(name) if name else next(iter(self.shelf.entries.values()), None)
        if entry is None:
            return self.shelf.ready.is_set() != ready
        return not name or entry.standing != "waiting"

    def begins(self, name: str) -> bool:
        """Whether a run of that name is about to be written: its directory was given, and holds nothing to read."""
        return name in {Path(root).resolve().name for root in self.shelf.roots if Path(root).is_dir()}

    @property
    def roots(self) -> str:
        """The roots in words."""
        return ", ".join(self.shelf.roots)


def look_of(ui: Mapping[str, Any] | None) -> Look:
    """How the browser wants to see it; light and English where it says nothing usable."""
    said = ui or {}
    return Look("dark" if said.get("theme") == "dark" else "light", "zh" if said.get("lang") == "zh" else "en")


def query(search: str | None) -> dict[str, list[str]]:
    """The URL's parameters; an overlong one is cut."""
    return parse_qs((search or "").lstrip("?")[: 10 * TEXT_LIMIT], max_num_fields=50)


def one(params: Mapping[str, list[str]], name: str, default: str = "") -> str:
    """The first value of a parameter."""
    return params.get(name, [default])[0][:TEXT_LIMIT]


def floating(text: str) -> float | None:
    """A finite number of the URL, None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None
