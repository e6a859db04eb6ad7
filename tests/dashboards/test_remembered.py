"""Runs that are over are judged once, not at each start of a dashboard."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from klinic.dashboards.app import create_app
from klinic.dashboards.store import Shelf, judging
from klinic.diagnostics.survey.index import FILE
from klinic.diagnostics.survey.options import JudgeOptions
from klinic.diagnostics.survey.survey import LITTLE, in_a_row, survey

pytestmark = pytest.mark.slow

RUNS = LITTLE + 1
NAMES = {f"run{place}/metrics.jsonl" for place in range(RUNS)}


def write(path: Path, steps: range, score: float = 0.5, ago: float = 7200.0) -> None:
    """A run that has been still for so many seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"step": step, "data": {"critic/score/mean": score, "actor/ppo_kl": 0.4}} for step in steps]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(path, (time.time() - ago, time.time() - ago))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KLINIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("klinic.diagnostics.survey.index.SETTLED_S", -1.0)  # a file just written has a new inode time
    monkeypatch.setattr(
        "klinic.diagnostics.survey.options._installed", lambda: "these rules"
    )  # not as someone edits them
    for name in NAMES:
        write(tmp_path / "runs" / name, range(1, 20))
    return tmp_path / "runs"


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that were judged, not looked up."""
    seen: list[str] = []
    real = judging.Monitor.diagnose
    monkeypatch.setattr(
        judging.Monitor, "diagnose", lambda self, run: seen.append(Path(run.source.path).parent.name) or real(self, run)
    )
    return seen


@pytest.fixture
def start() -> Iterator[Callable[..., Shelf]]:
    made: list[Shelf] = []

    def started(root: Path, *, remember: bool = True) -> Shelf:
        made.append(Shelf([str(root)], remember=remember))
        made[-1].round()
        return made[-1]

    yield started
    for one in made:
        one.stop()


def found(shelf: Shelf) -> dict[str, object]:
    return {name: entry.diagnosis for name, entry in shelf.entries.items()}


def test_a_second_start_judges_nothing_and_finds_the_same(runs: Path, judged: list[str], start) -> None:
    first = found(start(runs))
    assert len(judged) == RUNS and None not in first.values()
    judged.clear()
    second = start(runs)
    assert judged == [] and found(second) == first
    entry = second.entry("run0")
    assert entry is not None and entry.scene is not None and len(entry.scene.values("actor/ppo_kl")) == 19


def test_a_run_that_changed_is_judged_anew(runs: Path, judged: list[str], start) -> None:
    start(runs)
    judged.clear()
    write(runs / "run3" / "metrics.jsonl", range(1, 30))
    second = start(runs)
    assert judged == ["run3"] and second.entries["run3/metrics.jsonl"].run.frame.height == 29


def test_other_rules_judge_anew(runs: Path, judged: list[str], start, monkeypatch: pytest.MonkeyPatch) -> None:
    start(runs)
    judged.clear()
    monkeypatch.setattr("klinic.diagnostics.survey.options._installed", lambda: "other rules")
    start(runs)
    assert len(judged) == RUNS


def test_a_run_that_goes_on_is_neither_kept_nor_looked_up(runs: Path, judged: list[str], start) -> None:
    write(runs / "live" / "metrics.jsonl", range(1, 20), ago=5)
    assert start(runs).entries["live/metrics.jsonl"].state() == "running"
    judged.clear()
    start(runs)
    assert judged == ["live"]


def test_what_klinic_diagnose_judged_is_not_judged_again(runs: Path, judged: list[str], start) -> None:
    cases, _ = in_a_row(survey([str(runs)], JudgeOptions(), jobs=1))
    diagnosed = {Path(case.run.source.path).parent.name: case.diagnosis for case in cases}
    shown = found(start(runs))
    assert judged == [] and {name.split("/")[0]: one for name, one in shown.items()} == diagnosed


def test_nothing_is_kept_where_nothing_shall_be(runs: Path, judged: list[str], start) -> None:
    start(runs, remember=False)
    assert not (runs.parent / "cache").exists() and len(judged) == RUNS


@pytest.mark.parametrize("trouble", ["no database", "not writable", "another table", "a folder"])
def test_a_cache_that_cannot_be_used_breaks_no_page(runs: Path, judged: list[str], start, trouble: str) -> None:
    cache = runs.parent / "cache"
    cache.mkdir(mode=0o700)
    if trouble == "no database":
        (cache / FILE).write_bytes(b"not a database" * 1000)
    elif trouble == "not writable":
        cache.rmdir()
        cache.write_text("a file where the folder should be")
    elif trouble == "another table":
        with sqlite3.connect(cache / FILE) as base:
            base.execute("CREATE TABLE found (other TEXT)")
    else:
        (cache / FILE).mkdir()
    shelf = start(runs)
    assert len(judged) == RUNS and all(entry.standing == "judged" for entry in shelf.entries.values())
    page = create_app(shelf).server.test_client()
    assert page.get("/").status_code == 200


def test_two_dashboards_on_one_folder_do_not_disturb_each_other(runs: Path, judged: list[str], start) -> None:
    shelves = [Shelf([str(runs)], refresh=0.05, remember=True) for _ in range(2)]
    try:
        for shelf in shelves:
            shelf.start()
        end = time.monotonic() + 30
        while time.monotonic() < end and not all(
            len(shelf.entries) == RUNS and all(one.standing == "judged" for one in shelf.entries.values())
            for shelf in shelves
        ):
            time.sleep(0.02)
        assert found(shelves[0]) == found(shelves[1]) and len(found(shelves[0])) == RUNS
    finally:
        for shelf in shelves:
            shelf.stop()
    judged.clear()
    assert found(start(runs)) == found(shelves[0]) and judged == []
