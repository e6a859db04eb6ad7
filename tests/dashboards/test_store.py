"""What the shelf reads, refuses and follows."""

from __future__ import annotations

import gc
import json
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from klinic.dashboards.pages import runs
from klinic.dashboards.store import Shelf, judging
from klinic.diagnostics.engine.card import CardError


def write(path: Path, steps: range, mode: str = "w", score: float = 0.5) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as out:
        for step in steps:
            out.write(json.dumps({"step": step, "data": {"critic/score/mean": score, "actor/ppo_kl": 0.001}}) + "\n")


@pytest.fixture
def shelf() -> Iterator[Callable[..., Shelf]]:
    made: list[Shelf] = []

    def read(*roots: Path) -> Shelf:
        made.append(Shelf([str(root) for root in roots]))
        made[-1].round()
        return made[-1]

    yield read
    for one in made:
        one.stop()


def test_runs_get_short_stable_names(shelf, tmp_path: Path) -> None:
    write(tmp_path / "a" / "metrics.jsonl", range(1, 12))
    write(tmp_path / "b" / "deep" / "metrics.jsonl", range(1, 12))
    assert set(shelf(tmp_path).entries) == {"a/metrics.jsonl", "b/deep/metrics.jsonl"}


def test_a_folder_names_the_run_that_it_holds_alone(shelf, tmp_path: Path) -> None:
    write(tmp_path / "a" / "metrics.jsonl", range(1, 12))
    found = shelf(tmp_path).entry("a")
    assert found is not None and found.id == "a/metrics.jsonl"


def test_two_roots_with_the_same_names_are_told_apart(shelf, tmp_path: Path) -> None:
    for root in ("one", "two"):
        write(tmp_path / root / "x" / "metrics.jsonl", range(1, 12))
    assert len(shelf(tmp_path / "one", tmp_path / "two").entries) == 2


def test_links_out_of_a_root_are_not_opened(shelf, tmp_path: Path) -> None:
    secret, root = tmp_path / "secret", tmp_path / "runs"
    write(secret / "metrics.jsonl", range(1, 12), score=0.123456)
    (root / "run").mkdir(parents=True)
    (root / "run" / "metrics.jsonl").symlink_to(secret / "metrics.jsonl")
    (root / "folder").symlink_to(secret)
    (root / "linked").mkdir()
    (root / "linked" / "run.json").write_text(json.dumps({"schema": "klinic.run/1", "id": "x", "status": "finished"}))
    (root / "linked" / "metrics.jsonl").symlink_to(secret / "metrics.jsonl")
    entries = shelf(root).entries
    assert all(entry.run is None for entry in entries.values())
    assert "leads out" in entries["linked"].problem


def test_no_name_leads_to_a_path(shelf, tmp_path: Path) -> None:
    write(tmp_path / "runs" / "a" / "metrics.jsonl", range(1, 12))
    write(tmp_path / "other" / "metrics.jsonl", range(1, 12))
    made = shelf(tmp_path / "runs")
    for name in ("../other", "/etc/passwd", str(tmp_path / "other" / "metrics.jsonl"), "", "a/../../other"):
        assert made.entry(name) is None


def test_a_broken_file_is_a_row_that_says_why(shelf, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b"\x00\x01\x02" * 1000)
    write(tmp_path / "good" / "metrics.jsonl", range(1, 12))
    entries = shelf(tmp_path).entries
    assert entries["bad.jsonl"].standing == "broken" and entries["bad.jsonl"].problem
    assert entries["good/metrics.jsonl"].standing == "judged"


def test_new_rows_are_read_alone_and_keep_the_epoch(shelf, tmp_path: Path) -> None:
    path = tmp_path / "a" / "metrics.jsonl"
    write(path, range(1, 12))
    made = shelf(tmp_path)
    before = made.entries["a/metrics.jsonl"]
    write(path, range(12, 14), "a")
    made.round()
    after = made.entries["a/metrics.jsonl"]
    assert after.run is not None and after.run.frame.height == 13
    assert after.epoch == before.epoch and after.stamp > before.stamp
    made.round()
    assert made.entries["a/metrics.jsonl"] is after


def test_a_rewritten_run_starts_a_new_epoch(shelf, tmp_path: Path) -> None:
    path = tmp_path / "a" / "metrics.jsonl"
    write(path, range(1, 12))
    made = shelf(tmp_path)
    before = made.entries["a/metrics.jsonl"].epoch
    write(path, range(5, 9), "a")
    made.round()
    assert made.entries["a/metrics.jsonl"].epoch > before


def test_a_silent_log_is_stalled_only_after_it_was_seen_growing(shelf, tmp_path: Path) -> None:
    path = tmp_path / "a" / "metrics.jsonl"
    write(path, range(1, 12))
    made = shelf(tmp_path)
    later = time.time() + 3600
    assert made.entries["a/metrics.jsonl"].state() == "running"
    assert made.entries["a/metrics.jsonl"].state(later) == ""
    write(path, range(12, 13), "a")
    made.round()
    assert made.entries["a/metrics.jsonl"].state(later) == "stalled"


def test_a_run_that_breaks_the_reader_or_the_judge_is_a_row_that_says_why(shelf, tmp_path: Path, monkeypatch) -> None:
    from klinic.dashboards.store import judging, scan

    for name in ("a", "b", "c"):
        write(tmp_path / name / "metrics.jsonl", range(1, 12))
    read, judge = scan.Root.news, judging.Monitor.diagnose

    def news(self, plan, *, single):
        if "/a/" in plan.path:
            raise ZeroDivisionError("reader")
        return read(self, plan, single=single)

    def diagnose(self, run):
        if "/b/" in run.source.path:
            raise ZeroDivisionError("judge")
        return judge(self, run)

    monkeypatch.setattr(scan.Root, "news", news)
    monkeypatch.setattr(judging.Monitor, "diagnose", diagnose)
    entries = shelf(tmp_path).entries
    assert [entries[f"{name}/metrics.jsonl"].standing for name in "abc"] == ["broken", "broken", "judged"]
    assert "reader" in entries["a/metrics.jsonl"].problem and "judge" in entries["b/metrics.jsonl"].problem


def test_rules_that_cannot_be_read_are_said_of_every_run(shelf, tmp_path: Path, monkeypatch) -> None:
    def broken() -> None:
        raise CardError("mine.yaml:3:1: not YAML")

    monkeypatch.setattr(judging, "Monitor", broken)
    for name in ("a", "b"):
        write(tmp_path / name / "metrics.jsonl", range(1, 12))
    assert [one.problem for one in shelf(tmp_path).entries.values()] == 2 * ["mine.yaml:3:1: not YAML"]


def test_the_judging_of_some_runs_only_is_remembered(tmp_path: Path, monkeypatch) -> None:
    alive: weakref.WeakSet[judging.Monitor] = weakref.WeakSet()

    class Counted(judging.Monitor):
        def __init__(self) -> None:
            super().__init__()
            alive.add(self)

    monkeypatch.setattr(judging, "Monitor", Counted)
    monkeypatch.setattr(judging, "KEPT", 2)
    for name in "abcd":
        write(tmp_path / name / "metrics.jsonl", range(1, 12))
    made = Shelf([str(tmp_path)], refresh=0.05).start()
    try:
        assert _until(lambda: len(made.entries) == 4 and all(one.standing == "judged" for one in made.entries.values()))
        write(tmp_path / "a" / "metrics.jsonl", range(1, 14))
        assert _until(lambda: len(made.entry("a").run.frame) == 13 and made.entry("a").standing == "judged")
        gc.collect()
        assert 1 <= len(alive) <= 3  # the third may be at work
    finally:
        made.stop()


def test_a_run_shows_before_it_is_judged(tmp_path: Path, monkeypatch) -> None:
    from klinic.dashboards.store import judging

    go_on = threading.Event()
    judge = judging.Monitor.diagnose
    monkeypatch.setattr(judging.Monitor, "diagnose", lambda self, run: go_on.wait(30) and judge(self, run))
    write(tmp_path / "a" / "metrics.jsonl", range(1, 12))
    made = Shelf([str(tmp_path)], refresh=0.05).start()
    try:
        assert made.ready.wait(10)
        entry = made.entry("a")
        assert entry is not None and entry.standing == "read"
        assert entry.scene is not None and len(entry.scene.values("actor/ppo_kl")) == 11
        go_on.set()
        assert _until(lambda: made.entry("a").standing == "judged")
    finally:
        go_on.set()
        made.stop()


def test_what_a_run_was_before_is_let_go_at_once(shelf, tmp_path: Path, monkeypatch) -> None:
    """A long run holds many megabytes a version: none may wait for the garbage collector."""
    monkeypatch.setattr(judging, "SHARE", 1.0)
    path = tmp_path / "a" / "metrics.jsonl"
    write(path, range(1, 30))
    made = shelf(tmp_path)
    gc.collect()
    gc.disable()
    try:
        before = []
        for step in range(30, 34):
            before.append(weakref.ref(made.entries["a/metrics.jsonl"].run))
            write(path, range(step, step + 1), "a")
            made.round()
        assert made.entries["a/metrics.jsonl"].run.frame.height == 33
        assert [old() for old in before] == [None] * 4
    finally:
        gc.enable()


def test_what_changes_while_an_answer_is_made_comes_with_the_next_one(shelf, tmp_path: Path, monkeypatch) -> None:
    write(tmp_path / "a.jsonl", range(1, 4))
    write(tmp_path / "b.jsonl", range(1, 4))
    read = shelf(str(tmp_path))
    rows, seen, _ = runs.since(read, 0, "en")
    assert len(rows["add"]) == 2

    def busy(entry, lang):
        write(tmp_path / "b.jsonl", range(4, 6), "a")
        read.round()
        return {"id": entry.id}

    write(tmp_path / "a.jsonl", range(4, 6), "a")
    read.round()
    with monkeypatch.context() as patched:
        patched.setattr(runs, "row", busy)
        rows, seen, _ = runs.since(read, seen, "en")
    assert [row["id"] for row in rows["update"]] == ["a.jsonl"]
    rows, seen, _ = runs.since(read, seen, "en")
    assert [row["id"] for row in rows["update"]] == ["b.jsonl"]
    assert runs.since(read, seen, "en") is None


def _until(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()
