"""The tabs of the run page: one a panel, then the tables; those with nothing to show are faint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html

from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.panels import panels
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views.parts import Component
from klinic.dashboards.words import speaker

TABLES = ("config", "samples", "log")


def tabs(entry: Entry, lang: Lang, view: Mapping[str, Any]) -> Component:
    """A button a tab."""
    say, full = speaker(lang), filled(entry)
    names = [*(panel.name for panel in panels()), *TABLES]
    buttons = [_tab(name, say(f"tab.{name}"), chosen=name == view["tab"], empty=name not in full) for name in names]
    return html.Div(buttons, className="tabs", role="tablist", **{"aria-label": say("run.tabs")})


def filled(entry: Entry) -> list[str]:
    """The tabs that have something to show."""
    run, scene = entry.run, entry.scene
    full = [panel.name for panel in panels() if scene and panel.charts(scene)]
    held = (run.config.values, run.samples, run.lines) if run else ((), (), ())
    return full + [name for name, there in zip(TABLES, held, strict=True) if there]


def first_tab(entry: Entry | None) -> str:
    """The tab that opens: the vital signs, or the log of a run that ended before its first step."""
    ended = entry is not None and entry.run is not None and entry.run.steps is None and entry.diagnosis is not None
    return "log" if ended and entry is not None and "log" in filled(entry) else "vitals"


def _tab(name: str, label: str, *, chosen: bool, empty: bool) -> Component:
    spoken = {"aria-selected": str(chosen).lower(), "aria-controls": "run-body", "data-tab": name}
    classes = "pick" + (" chosen" if chosen else "") + (" none" if empty else "")
    return html.Button(label, id={"tab": name}, className=classes, type="button", role="tab", n_clicks=0, **spoken)
