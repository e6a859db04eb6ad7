"""The parts of the run page that a tick may send anew, and what a page knows of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from klinic.dashboards.figures.theme import Lang, Look
from klinic.dashboards.live import Marks, mark
from klinic.dashboards.store import Entry
from klinic.dashboards.views import banner, finding, prescription, timeline, vitals
from klinic.dashboards.views.parts import Component
from klinic.dashboards.views.tabs import filled, tabs

View = Mapping[str, Any]
SPARKS = 80  # times that a spark is drawn anew while a run doubles its length


def seen_of(
    entry: Entry, look: Look, view: Mapping[str, Any], marks: Mapping[str, Marks] | None = None
) -> dict[str, Any]:
    """What a page knows of a run: sent back with each tick, so that only what it lacks is sent."""
    return _seen(entry, look, view, marks or {}, _signs(entry, _moving(entry, look.lang)))


def news_of(
    entry: Entry, look: Look, view: Mapping[str, Any], known: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """What moved since a page knew what it knows, and what it knows then."""
    moving = _moving(entry, look.lang)
    signs, old = _signs(entry, moving), known["moving"]
    moved = {
        kind: {key: one for key, one in all_.items() if signs[kind][key] != old.get(kind, {}).get(key)}
        for kind, all_ in moving.items()
    }
    return moved, _seen(entry, look, view, known["charts"], signs)


def _seen(
    entry: Entry, look: Look, view: Mapping[str, Any], marks: Mapping[str, Marks], signs: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "run": entry.id,
        "version": entry.stamp,
        "epoch": entry.epoch,
        "rows": entry.run.frame.height if entry.run else 0,
        "parts": {name: part.mark(entry, look.lang, view) for name, part in PARTS.items()},
        "charts": dict(marks),
        "moving": signs,
    }


def _moving(entry: Entry, lang: Lang) -> dict[str, dict[str, Any]]:
    """What moves within the parts with every step, by kind and name: the page's script puts it in its place."""
    signs = entry.diagnosis.vitals if entry.diagnosis else ()
    numbers = {vital.name: vitals.numbers(vital, lang) for vital in signs}
    return {
        "vitals": numbers,
        "sparks": {vital.name: vitals.drawn(vital) for vital in signs},
        "bars": timeline.moving(entry, lang),
        "health": {"now": entry.diagnosis.health} if entry.diagnosis else {},
    }


def _signs(entry: Entry, moving: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """What tells whether something moved. A step among very many moves no spark that an eye could see move.

    The sparks of a long run take turns, so that no answer carries all of them.
    """
    rows = entry.run.frame.height if entry.run else 0
    stretch = rows // SPARKS
    signs = {kind: {key: mark(one) for key, one in all_.items()} for kind, all_ in moving.items()}
    if stretch >= 2:
        sparks = moving["sparks"]
        signs["sparks"] = {k: (rows + place * stretch // len(sparks)) // stretch for place, k in enumerate(sparks)}
    return signs


@dataclass(frozen=True)
class Part:
    """A part of the page that is sent anew only where its mark changed."""

    draw: Callable[[Entry, Lang, View], Component]
    sign: Callable[[Entry, Lang, View], Any] | None = None

    def mark(self, entry: Entry, lang: Lang, view: View) -> int:
        """What tells whether the part changed."""
        return mark((self.sign or self.draw)(entry, lang, view))


PARTS = {
    "banner": Part(
        lambda entry, lang, view: banner.banner(entry, lang), lambda entry, lang, view: banner.structure(entry, lang)
    ),
    "vitals": Part(
        lambda entry, lang, view: vitals.cards(entry, lang), lambda entry, lang, view: vitals.structure(entry)
    ),
    "timeline": Part(
        lambda entry, lang, view: timeline.timeline(entry, lang, view.get("finding")),
        lambda entry, lang, view: timeline.structure(entry, view.get("finding")),
    ),
    "tabs": Part(tabs, lambda entry, lang, view: filled(entry)),
    "incidents": Part(lambda entry, lang, view: finding.incidents(entry, lang)),
    "prescription": Part(
        lambda entry, lang, view: prescription.prescription(entry, lang),
        lambda entry, lang, view: prescription.structure(entry),
    ),
}
