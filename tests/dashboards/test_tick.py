"""What a tick of a long run sends: points and what moved, never a part of the page that says the same as before."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dash import no_update
from dash._utils import to_json

from klinic.dashboards.figures.theme import Look
from klinic.dashboards.pages import run, runlive
from klinic.dashboards.pages.runparts import PARTS, SPARKS
from klinic.dashboards.store import Entry, Shelf, judging
from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import open_run

NAMES = ("actor/pg_loss", "actor/ppo_kl", "critic/vf_loss", "critic/score/mean", "perf/throughput", "actor/entropy")
ROWS = 8 * SPARKS
TICK = 5000  # bytes
CHANGES = {"key": "other.key", "old": 0.25, "new": 0.125, "override": "a=b", "because": "so", "effect": "less",
           "side_effects": "slower", "rank": 2}  # fmt: skip


class Page:
    """An open page of a run that is written on: `tick()` gives what the browser would get."""

    def __init__(self, path: Path, rows: int) -> None:
        self.path, self.rng, self.step = path, random.Random(9), 0
        path.parent.mkdir()
        self.write(rows)
        self.shelf = Shelf([str(path.parent)])
        self.shelf.round()
        self.name = next(iter(self.shelf.entries))
        self.view = run.view_of({"run": [self.name]})
        entry = self.shelf.entries[self.name]
        self.seen = run.seen_of(entry, Look(), self.view, run._known(entry, Look(), self.view))

    def write(self, rows: int) -> None:
        with self.path.open("a") as out:
            for _ in range(rows):
                self.step += 1
                data = {name: round(self.rng.random() * 0.01 + 0.001, 6) for name in NAMES}
                out.write(json.dumps({"step": self.step, "time": 1.7e9 + self.step, "data": data}) + "\n")

    def tick(self) -> tuple[dict[str, Any], list[str]]:
        """The news, and the names of the parts sent anew."""
        self.shelf.round()
        entry = self.shelf.entries[self.name]
        news, now, redraw = runlive._moved(entry, self.seen, Look(), self.view, None)
        sent = runlive._changed(entry, self.seen, now, "en", self.view)
        self.seen, self.size = now, len(to_json([news, now, redraw, *sent]))
        return news, [name for name, part in zip(PARTS, sent, strict=True) if part is not no_update]


@pytest.fixture
def page(tmp_path: Path, monkeypatch) -> Iterator[Callable[[int], Page]]:
    made: list[Page] = []
    monkeypatch.setattr(judging, "SHARE", 1.0)

    def opened(rows: int) -> Page:
        made.append(Page(tmp_path / "a" / "metrics.jsonl", rows))
        return made[-1]

    yield opened
    for one in made:
        one.shelf.stop()


def test_a_step_of_a_long_run_is_a_small_answer_without_parts_of_the_page(page: Callable[[int], Page]) -> None:
    shown, statuses = page(ROWS), set()
    for _ in range(8):
        shown.write(1)
        news, parts = shown.tick()
        assert not {"vitals", "timeline", "tabs"} & set(parts)
        assert shown.size < TICK
        assert news["charts"]["actor/ppo_kl"]["points"][0][2][-1] == shown.step
        statuses.add(json.dumps(news["vitals"]))
    assert len(statuses) > 1  # the numbers of the cards moved all the while


def test_sparks_of_a_long_run_are_drawn_anew_once_an_eye_could_see_them_move(page: Callable[[int], Page]) -> None:
    shown = page(ROWS)
    drawn: list[str] = []
    for _ in range(ROWS // SPARKS):
        shown.write(1)
        drawn += shown.tick()[0]["sparks"]
    assert sorted(drawn) == sorted(["pg_loss", "ppo_kl", "vf_loss", "score", "throughput"])


def test_sparks_of_a_short_run_follow_every_step(page: Callable[[int], Page]) -> None:
    shown = page(30)
    for _ in range(3):
        shown.write(1)
        assert len(shown.tick()[0]["sparks"]) >= 4
        print(shown.size)


def test_a_prescription_is_sent_anew_whatever_of_it_changes(recordings: Path) -> None:
    read = open_run(recordings / "h200" / "ppo_lr_too_high")
    found = diagnose(read)
    first = found.prescription[0]
    changes = [{name: value} for name, value in CHANGES.items()]
    variants = [replace(found, prescription=(replace(first, **change),)) for change in changes]
    longer = replace(read, manifest={"command": ["python3", "-m", "other"]})
    entries = [Entry("one", "", run=run, diagnosis=one) for run in (read, longer) for one in (found, *variants)]
    for name in ("banner", "prescription"):
        drawn = {to_json(PARTS[name].draw(one, "en", {})): PARTS[name].mark(one, "en", {}) for one in entries}
        assert len(set(drawn.values())) == len(drawn) > 4, name


def test_only_what_changed_around_a_chart_is_sent(page: Callable[[int], Page]) -> None:
    shown = page(ROWS)
    shown.write(1)
    shown.tick()
    shown.write(1)
    around = [part for item in shown.tick()[0]["charts"].values() for part in item.get("around", {})]
    assert "shapes" in around or not around
    assert around.count("annotations") < 5 and around.count("edges") == 0
