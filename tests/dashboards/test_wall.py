"""The wall as plain values: which runs get a tile, what a tile says, what a tick sends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from dash import no_update

from klinic.dashboards.pages.wall import told
from klinic.dashboards.report.tohtml import to_html
from klinic.dashboards.store import Entry, Shelf, judging
from klinic.dashboards.views import wall
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.run import Run

NOW = 2_000_000_000.0


def entry(name: str, verdict: str = "healthy", *, age: float = 1.0, **more: object) -> Entry:
    """A run whose log last grew some seconds ago."""
    found = Diagnosis(verdict, 50, "", None)  # type: ignore[arg-type]
    return Entry(name, name, run=Run(), diagnosis=found, grew=NOW - age, **more)  # type: ignore[arg-type]


def test_what_goes_on_comes_first_the_worst_before_the_rest() -> None:
    over = entry("over", "sick", age=9e5)
    runs = [over, entry("b"), entry("a"), entry("ill", "sick"), entry("odd", "watch")]
    lead, chips = wall.arranged(runs, NOW)
    assert [one.id for one in lead] == ["ill", "odd", "a", "b", "over"] and chips == []


def test_tiles_are_bounded_and_what_is_over_is_small() -> None:
    runs = [entry(f"live{n:03}") for n in range(40)] + [entry(f"old{n}", "sick", age=9e5) for n in range(9)]
    lead, chips = wall.arranged(runs, NOW)
    assert len(lead) == wall.TILES and all(one.id.startswith("live") for one in lead)
    assert len(chips) == 25 and [one.id for one in chips[:9]] == [f"old{n}" for n in range(9)]


def test_the_order_does_not_follow_time() -> None:
    runs = [entry("a", age=30), entry("b", age=2), entry("c", age=11)]
    later = [replace(one, grew=one.grew + 20) for one in reversed(runs)]
    assert [one.id for one in wall.arranged(runs, NOW)[0]] == [one.id for one in wall.arranged(later, NOW + 5)[0]]


def test_a_changed_verdict_stands_out_and_says_what_it_was_for_a_while() -> None:
    turned = entry("a", "sick", was="healthy", turned=NOW - 200)
    text = to_html(wall.tile(turned, "en", NOW))
    assert "turned" in text and "was healthy, 3 min ago" in text
    assert "turned" not in to_html(wall.tile(turned, "en", NOW + wall.FRESH_S))
    assert "刚才还是正常" in to_html(wall.tile(replace(turned, turned=NOW - 5), "zh", NOW))


def test_a_run_that_stalls_says_so_in_large() -> None:
    stalled = entry("a", age=4000, watched=True)
    assert wall.arranged([stalled], NOW)[0] == [stalled]
    assert "is-stalled" in to_html(wall.tile(stalled, "en", NOW)) and "stalled" in to_html(
        wall.many([stalled], "en", NOW)
    )


def test_only_tiles_that_changed_are_sent() -> None:
    tiles = [wall.tile(entry(name), "en", NOW) for name in "abc"]
    contents, classes = told(tiles, [1, 2, 3], [1, 9, 3])
    assert contents == [no_update, tiles[1].children, no_update]
    assert classes == [no_update, tiles[1].className, no_update]


@pytest.fixture
def grown(tmp_path: Path, recordings: Path, monkeypatch) -> Iterator[Callable[[int], Shelf]]:
    """A shelf of a run of so many rows, judged as soon as it has grown."""
    lines = (recordings / "h200" / "ppo_lr_too_high" / "metrics.jsonl").read_text().splitlines(keepends=True)
    path = tmp_path / "a" / "metrics.jsonl"
    path.parent.mkdir()
    monkeypatch.setattr(judging, "SHARE", 1.0)
    shelf = Shelf([str(tmp_path)])

    def upto(count: int) -> Shelf:
        path.write_text("".join(lines[:count]))
        shelf.round()
        return shelf

    yield upto
    shelf.stop()


def test_the_shelf_remembers_what_a_verdict_was_before(grown: Callable[[int], Shelf]) -> None:
    before = grown(1).entries["a/metrics.jsonl"]
    assert before.diagnosis is not None and before.diagnosis.verdict == "healthy" and before.was == ""
    after = grown(9).entries["a/metrics.jsonl"]
    assert after.diagnosis is not None and after.diagnosis.verdict == "sick"
    assert after.was == "healthy" and abs(after.turned - time.time()) < 60
    assert grown(10).entries["a/metrics.jsonl"].turned == after.turned
